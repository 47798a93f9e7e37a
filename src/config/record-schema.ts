import { z } from "zod";

/** What vouches for versions of capabilities and servers. */
export const signingSchema = z
  .strictObject({
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe("File with the private Ed25519 key (PEM) that new versions are signed with. Left out: none is signed."),
    trustedKeys: z
      .array(z.string().min(1))
      .default([])
      .describe("Files with public Ed25519 keys (PEM) whose signatures count, besides the own one."),
    required: z
      .boolean()
      .default(false)
      .describe(
        "Import only versions that are signed by a trusted key. A signature that does not fit is always refused.",
      ),
  })
  .prefault({})
  .describe("Signatures of what is kept under a name.");

export const registrySchema = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(/\/+$/, ""))
      .optional()
      .describe(
        "Where records of MCP servers are fetched from, in their `code_url`. Left out: the daemon's own address.",
      ),
  })
  .prefault({})
  .describe("Records of MCP servers.");

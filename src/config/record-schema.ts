import { z } from "zod";

const MAX_PART_LENGTH = 40;

/** A part of an FQDN; dots and colons separate the parts. */
const scopePart = z
  .string()
  .max(MAX_PART_LENGTH)
  .regex(/^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/, "has lower-case letters, digits, and inner hyphens and underscores");

export const scopeSchema = z
  .strictObject({
    org: scopePart.default("local").describe("The organisation, the first part of every FQDN."),
    project: scopePart.default("default").describe("The project, the second part."),
  })
  .prefault({})
  .describe(
    "Whose memory this gateway works with. Gateways of several organisations and projects can share one PostgreSQL server; each sees its own, and what others share with it.",
  );

/** Signatures of versions of capabilities and servers. */
export const signingSchema = z
  .strictObject({
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "File with the private Ed25519 key (PEM) that signs new versions. If omitted, versions are not signed.",
      ),
    trustedKeys: z
      .array(z.string().min(1))
      .default([])
      .describe("Files with public Ed25519 keys (PEM) that are trusted besides the own one."),
    required: z
      .boolean()
      .default(false)
      .describe(
        "Import only versions that are signed by a trusted key. A signature that does not fit is always refused.",
      ),
  })
  .prefault({})
  .describe("Signatures of capability versions and server records.");

export const registrySchema = z
  .strictObject({
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(/\/+$/, ""))
      .optional()
      .describe("Base address of the `code_url` in records of MCP servers. If omitted, the address of the daemon."),
  })
  .prefault({})
  .describe("Records of MCP servers.");

import { z } from "zod";

const count = z.number().int().positive();

/** Tokens and keys travel there, so only what cannot be read or changed on the way will do. */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname));
}

const secureUrl = z.string().refine(isSecureUrl, "must be an https:// URL (http:// only on loopback)");
const plainUrl = secureUrl.refine((text) => !/[?#]/.test(text), "must have neither a query nor a fragment");

/** Tokens of authorization servers, for clients that are not on this machine. */
export const authSchema = z
  .strictObject({
    issuers: z
      .array(plainUrl)
      .min(1)
      .describe("Authorization servers whose tokens count, exactly as they are called in `iss`."),
    resource: plainUrl.describe("The URL of /mcp as clients know it, such as https://pml.example.com/mcp."),
    audience: z.string().min(1).optional().describe("What a token must have in `aud`, if that is not `resource`."),
    scopes: z
      .array(z.string().regex(/^[!#-[\]-~]+$/, "must be a scope without spaces and quotes"))
      .default([])
      .describe("Scopes that every token must have."),
    jwksUrls: z
      .record(z.string(), secureUrl)
      .default({})
      .describe("Where the keys of an issuer are, by issuer. Left out, its metadata says so."),
  })
  .refine(({ issuers, jwksUrls }) => Object.keys(jwksUrls).every((issuer) => issuers.includes(issuer)), {
    path: ["jwksUrls"],
    message: "has an issuer that is not among `issuers`",
  });

/** What one caller may take of the gateway, so that there is something left for the others. */
export const limitsSchema = z
  .strictObject({
    requestsPerMinute: count
      .default(3_000)
      .describe(
        "HTTP requests a principal of `auth` may make per minute, in the long run; that many at once are fine after a pause. The local token has no such limit.",
      ),
    concurrentRequests: count
      .default(256)
      .describe("Requests under way at once: of a principal over HTTP, of a connection over stdio."),
    sessions: count.default(500).describe("Open HTTP sessions (of the 2025 protocols) of a principal."),
    streams: count
      .default(500)
      .describe("Open streams of change notices: of a principal over HTTP, of a connection over stdio."),
    subscriptions: count.default(1_000).describe("Resources that a session, connection or stream may watch."),
  })
  .prefault({})
  .describe("What one caller may take.");

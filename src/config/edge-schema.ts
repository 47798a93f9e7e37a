import { z } from "zod";

const count = z.number().int().positive();

/** Accepts https and loopback: tokens and keys go to these addresses. */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname));
}

const secureUrl = z.string().refine(isSecureUrl, "must be an https:// URL (http:// only on loopback)");
const plainUrl = secureUrl.refine((text) => !/[?#]/.test(text), "must have neither a query nor a fragment");

const scope = z.string().regex(/^[!#-[\]-~]+$/, "must be a scope without spaces and quotes");

/** Tokens of authorization servers, for clients on other machines. */
export const authSchema = z
  .strictObject({
    issuers: z.array(plainUrl).min(1).describe("Accepted authorization servers, exactly as in `iss`."),
    resource: plainUrl.describe("The URL of /mcp as clients know it, such as https://pml.example.com/mcp."),
    audience: z.string().min(1).optional().describe("Required `aud` of a token, if it differs from `resource`."),
    scopes: z.array(scope).default([]).describe("Scopes that every token must have."),
    adminScope: scope
      .optional()
      .describe("Scope whose holders may change capabilities of others. They see no more than other principals."),
    jwksUrls: z
      .record(z.string(), secureUrl)
      .default({})
      .describe("Address of the keys (JWKS), by issuer. If omitted, taken from the metadata of the issuer."),
  })
  .refine(({ issuers, jwksUrls }) => Object.keys(jwksUrls).every((issuer) => issuers.includes(issuer)), {
    path: ["jwksUrls"],
    message: "has an issuer that is not among `issuers`",
  });

/** Limits per caller, so that one caller cannot starve the others. */
export const limitsSchema = z
  .strictObject({
    requestsPerMinute: count
      .default(3_000)
      .describe(
        "HTTP requests a principal of `auth` may make per minute, in the long run; that many at once are fine after a pause. The local token has no such limit.",
      ),
    concurrentRequests: count
      .default(256)
      .describe("Concurrent requests: per principal over HTTP, per connection over stdio."),
    sessions: count
      .default(500)
      .describe("Open HTTP sessions (2025 protocols) per principal; with the local token per client, by its name."),
    streams: count
      .default(500)
      .describe("Open notification streams: per principal over HTTP, per connection over stdio."),
    capabilities: count
      .default(10_000)
      .describe("Capabilities a principal of `auth` may have, unnamed ones included. The owner has no such limit."),
    subscriptions: count.default(1_000).describe("Resources that a session, connection or stream may subscribe to."),
  })
  .prefault({})
  .describe("Limits per caller.");

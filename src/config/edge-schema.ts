import { z } from "zod";

const count = z.number().int().positive();

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

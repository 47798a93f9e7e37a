import { z } from "zod";

/** Mirrors `ErrorReport`; codes are open, since a caller may meet a newer PML. */
const errorReport = z
  .object({
    code: z.string().describe("Stable; docs/reference/errors.md lists them."),
    id: z.string().describe("PML-E…, to look it up by."),
    message: z.string().describe("States what failed, with the values."),
    hint: z.string().optional().describe("States what to do next."),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "ErrorReport" });

/** Every HTTP route answers a failure like this. */
export const httpFailure = z.object({ ok: z.literal(false), error: errorReport }).meta({ id: "Failure" });

/** Every tool of PML answers arguments it refuses, and what it cannot go on from, like this. */
export const toolFailure = z.object({ error: errorReport });

import { z } from "zod";

const count = z.number().int().positive();

/** Limits for reading programs of others, which happens outside of the serving thread. Errors name the key. */
export const analysisSchema = z.strictObject({
  maxMillis: count
    .default(5_000)
    .describe("How long reading a program, or checking a long result against its schema, may take."),
  maxHeapMb: count.min(32).default(256).describe("Memory for that."),
  maxOutputBytes: count
    .max(16 * 1024 * 1024)
    .default(1024 * 1024)
    .describe("Size of the calls, branches and parameters found in a program, written as JSON."),
});

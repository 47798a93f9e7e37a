import { z } from "zod";

export const namingSchema = z.strictObject({
  strict: z
    .boolean()
    .default(false)
    .describe(
      "Only names of the form `namespace:action` with a standard namespace. Otherwise others are only warned of.",
    ),
  required: z
    .boolean()
    .default(false)
    .describe("A new program runs only with a name. Known programs without one keep working; `pml curate` names them."),
  reserveDays: z
    .number()
    .nonnegative()
    .default(30)
    .describe("Days for which the name of a deleted capability stays reserved."),
  nested: z
    .enum(["pinned", "latest"])
    .default("pinned")
    .describe("Which version of another capability a program gets: the one it first succeeded with, or the newest."),
});

import { z } from "zod";

/** A secret is named, not written down: the environment or a file has it. */
export const secretReference = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);

import { z } from "zod";

/** A reference to a secret in the environment or in a file, never the secret itself. */
export const secretReference = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);

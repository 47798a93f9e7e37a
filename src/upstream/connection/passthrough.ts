import { z } from "zod";

/** Accepts every result: a schema would drop or reorder members that it does not know. */
export const anyResult = z.record(z.string(), z.unknown());

export const listPage = z.looseObject({ nextCursor: z.string().optional() });

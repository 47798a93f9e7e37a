import { z } from "zod";

/** Results that are passed on are not looked into: a known shape would drop or reorder what it does not know. */
export const anyResult = z.record(z.string(), z.unknown());

export const listPage = z.looseObject({ nextCursor: z.string().optional() });

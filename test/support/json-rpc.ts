import { z } from "zod";

const jsonrpc = z.literal("2.0");
const id = z.union([z.string(), z.number().refine(Number.isInteger)]);
const message = z.union([
  z.strictObject({ jsonrpc, id, result: z.looseObject({}) }),
  z.strictObject({ jsonrpc, id: id.nullish(), error: z.looseObject({ code: z.int(), message: z.string().min(1) }) }),
  z.looseObject({ jsonrpc, method: z.string().min(1) }),
]);

/** Returns the violation of the protocol in a message, if any. */
export function findFlaw(text: string): string | undefined {
  try {
    const { error } = message.safeParse(JSON.parse(text));
    return error === undefined ? undefined : z.prettifyError(error);
  } catch {
    return "it is not JSON";
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isId(value: unknown): value is string | number {
  return id.safeParse(value).success;
}

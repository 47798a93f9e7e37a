import type { RequestId } from "@modelcontextprotocol/server";

/** Far more than any tool needs; a few thousand levels overflow the stack of recursive code. */
const DEEPEST = 500;
const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;

export type ParsedText =
  | { readonly kind: "parsed"; readonly value: unknown }
  | {
      readonly kind: "refused";
      /** Id of the refused request; null if there is none. */
      readonly id: RequestId | null;
      readonly code: number;
      readonly message: string;
    };

/** Parses a message of a client before any other code sees it. */
export function parseText(text: string): ParsedText {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "refused", id: null, code: PARSE_ERROR, message: "Parse error: this is not JSON" };
  }
  // each level takes two characters, so short texts need no check
  if (text.length <= 2 * DEEPEST || !isDeeper(value, DEEPEST)) return { kind: "parsed", value };
  const message = `The message is nested more than ${DEEPEST} levels deep`;
  return { kind: "refused", id: readId(value), code: INVALID_REQUEST, message };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

export function readId(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !("id" in value)) return null;
  const { id } = value;
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id)) ? id : null;
}

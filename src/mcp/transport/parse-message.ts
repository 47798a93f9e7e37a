import type { RequestId } from "@modelcontextprotocol/server";
import { findExcess, findId } from "../../base/message-scan.ts";

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
  const excess = findExcess(text);
  if (excess !== undefined)
    return { kind: "refused", id: findId(text), code: INVALID_REQUEST, message: `The message ${excess}` };
  try {
    return { kind: "parsed", value: JSON.parse(text) as unknown };
  } catch {
    return { kind: "refused", id: null, code: PARSE_ERROR, message: "Parse error: this is not JSON" };
  }
}

export function readId(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !("id" in value)) return null;
  const { id } = value;
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id)) ? id : null;
}

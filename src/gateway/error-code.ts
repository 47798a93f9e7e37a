import { ProtocolError } from "@modelcontextprotocol/server";
import { PmlError } from "../base/errors.ts";

/** Names the kind of an error, for records and traces. */
export function errorCode(error: unknown): string {
  if (error instanceof ProtocolError) return String(error.code);
  if (error instanceof PmlError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}

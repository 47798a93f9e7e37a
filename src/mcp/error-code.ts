import { ProtocolError } from "@modelcontextprotocol/server";

/** What kind of error it is, for records and traces. */
export function errorCode(error: unknown): string {
  if (error instanceof ProtocolError) return String(error.code);
  return error instanceof Error ? error.name : "unknown";
}

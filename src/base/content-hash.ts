import { createHash } from "node:crypto";
import { canonical } from "./canonical.ts";

/** Identifies a value by its content, whatever the order of its keys. */
export function contentHash(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

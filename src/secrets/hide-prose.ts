import { isObject } from "../base/json.ts";
import { RunSecrets } from "./run-secrets.ts";
import type { Secrets } from "./secrets.ts";

/** Fields in which people and agents write about their work, for others to read. */
const PROSE = new Set(["intent", "description", "tags", "change_summary", "context_tags", "reason"]);

/** Hides secrets in the prose of a request; program and arguments stay as they are. */
export function hideProse(secrets: Secrets, input: unknown): unknown {
  if (!isObject(input)) return input;
  const own = new RunSecrets(secrets);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, PROSE.has(name) ? own.hide(value) : value]),
  );
}

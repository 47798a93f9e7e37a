import type { changedAnswer } from "../../../src/contract/records.ts";
import type { Sent } from "../../../src/contract/wire.ts";
import type { ChangeOutcome, Registry } from "../../../src/registry/registry.ts";
import type { Scope } from "../../../src/registry/scope.ts";
import type { OwnAnswer } from "../../../src/mcp/own-tools/own-tool.ts";
import { describeBriefly } from "./describe-record.ts";
import type { RecordFacts } from "../../../src/registry/record-facts.ts";

export interface DnsParts {
  readonly registry: Registry;
  readonly facts: RecordFacts;
  readonly scope: Scope;
  /** Size of an answer that is handed over whole; 0 for no limit. */
  readonly maxResultBytes: () => number;
}

export const reads = { readOnlyHint: true, openWorldHint: false } as const;
export const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** Describes a record after a change of it. */
export function changed({ record, warnings }: ChangeOutcome): Sent<typeof changedAnswer> {
  return { ...describeBriefly(record), forked_from: record.forkedFrom ?? null, aliases: record.aliases, warnings };
}

export function json<Value>(value: Value): OwnAnswer<Value> {
  return { kind: "json", value };
}

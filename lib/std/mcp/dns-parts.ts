import { z } from "zod";
import type { ChangeOutcome, Registry } from "../../../src/registry/registry.ts";
import type { Scope } from "../../../src/registry/scope.ts";
import type { OwnAnswer } from "../../../src/mcp/own-tools/own-tool.ts";
import { describeBriefly } from "./describe-record.ts";
import type { RecordFacts } from "./record-facts.ts";

export interface DnsParts {
  readonly registry: Registry;
  readonly facts: RecordFacts;
  readonly scope: Scope;
}

export const reads = { readOnlyHint: true, openWorldHint: false } as const;
export const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

export const reference = z
  .string()
  .min(1)
  .describe("Name, former name, FQDN or id; @v1, @v1.2.0, @2025-12-22 or @latest after it.");

export const tags = z.array(z.string().min(1));

export function changed({ record, warnings }: ChangeOutcome): Readonly<Record<string, unknown>> {
  return { ...describeBriefly(record), forked_from: record.forkedFrom ?? null, aliases: record.aliases, warnings };
}

export function json(value: Readonly<Record<string, unknown>>): OwnAnswer {
  return { kind: "json", value };
}

import { createHash } from "node:crypto";
import type { LiteralRange } from "../analysis/structure.ts";
import { contentHash } from "../base/content-hash.ts";
import type { JsonValue } from "../base/json.ts";
import type { Scope } from "../registry/scope.ts";
import type { Effect } from "./effect.ts";

/** A text with its SHA-256. While a plan is decided, `text` is exact; in a stored question it is as people see it. */
export interface BoundText {
  readonly hash: string;
  readonly text: string;
}

/** `tool`: a capability that is one tool, as JSON. `call`: an agent's own call, without a program. */
export interface BoundProgram extends BoundText {
  readonly kind: "code" | "dag" | "tool" | "call";
  /** Where the exact text of code has strings and comments; absent in a stored question. */
  readonly literals?: readonly LiteralRange[];
}

/** A capability that a program can reach by name, in the version that the name stood for. */
export interface BoundCapability extends BoundProgram {
  /** `id version` of the capability that calls it; empty for the program itself. */
  readonly caller: string;
  /** As the caller spells it. */
  readonly name: string;
  readonly id: string;
  readonly version: number;
}

export interface BoundTool {
  /** `server:tool`. */
  readonly id: string;
  /** Hash of the whole definition. */
  readonly schemaHash: string;
  readonly effect: Effect;
}

/** The one call that a question in the middle of a run is about. */
interface BoundCall {
  readonly runId: string;
  readonly tool: string;
  /** Its number in the journal, where it was begun and its outcome is not known. */
  readonly seq?: number;
}

/**
 * Everything an approval, a remembered rule or the grant of a running run is good for. Whatever differs from it needs a
 * new decision, and people are shown nothing else.
 */
export interface Binding {
  readonly scope: Scope;
  readonly principal: string;
  readonly program: BoundProgram;
  /** Every capability the program can reach, in the order of their first call. */
  readonly nested: readonly BoundCapability[];
  /** Names in the program or in a nested capability that stood for nothing. */
  readonly missing: readonly string[];
  readonly tools: readonly BoundTool[];
  /** Source text of calls whose tool is computed at run time. */
  readonly dynamicCalls: readonly BoundText[];
  /** Arguments of the program, or of the one call; absent in a rule, which covers all arguments. */
  readonly args?: BoundText;
  readonly call?: BoundCall;
}

/** A binding before its tools were judged. */
export type BindingSubject = Omit<Binding, "tools">;

export function bindText(text: string): BoundText {
  // Lone surrogates have no UTF-8, so two texts could become the same bytes.
  const bytes = text.isWellFormed() ? Buffer.from(text, "utf8") : Buffer.from(`\ufeff${text}`, "utf16le");
  return { hash: createHash("sha256").update(bytes).digest("hex"), text };
}

export function bindArgs(args: JsonValue): BoundText {
  return { hash: contentHash(args), text: JSON.stringify(args, null, 2) };
}

/** Identifies a binding. Texts count by their hash alone, so that a stored question has the hash of what it asks. */
export function hashBinding(binding: Binding): string {
  const { scope, principal, program, nested, missing, tools, dynamicCalls, args, call } = binding;
  return contentHash({
    scope: { org: scope.org, project: scope.project },
    principal,
    program: [program.kind, program.hash],
    nested: nested.map(({ caller, name, id, version, kind, hash }) => [caller, name, id, version, kind, hash]),
    missing,
    tools: tools.map(({ id, schemaHash, effect }) => [id, schemaHash, effect]).toSorted(byId),
    dynamicCalls: dynamicCalls.map(({ hash }) => hash),
    args: args?.hash,
    call: call && { runId: call.runId, tool: call.tool, seq: call.seq },
  });
}

/** Hash of the binding that a remembered rule covers: the same with any arguments. */
export function hashRule({ args: _any, ...binding }: Binding): string {
  return hashBinding(binding);
}

function byId([a = ""]: readonly string[], [b = ""]: readonly string[]): number {
  return a < b ? -1 : 1;
}

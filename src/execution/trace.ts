import type { StaticStructure, StructureNode } from "../analysis/structure.ts";
import type { JsonValue } from "../json.ts";
import type { AnswerEntry, CallEntry, JournalEntry } from "./journal.ts";

export interface TracedDecision {
  readonly nodeId: string;
  readonly loop: string;
  readonly outcome: string;
}

/** One call of a run. `id` is unique in the run and is what results are fetched by. */
export interface TracedTask {
  readonly id: string;
  readonly nodeId: string | undefined;
  readonly loop: string;
  /** `server:tool`, or the name of a capability. */
  readonly tool: string;
  readonly kind: "tool" | "capability";
  readonly status: "success" | "error" | "unfinished";
  readonly durationMs: number;
  readonly result?: JsonValue;
  readonly error?: { readonly name: string; readonly message: string };
}

export interface Trace {
  /** Each node that was visited once, in the order of the structure. */
  readonly path: readonly string[];
  readonly decisions: readonly TracedDecision[];
  readonly tasks: readonly TracedTask[];
}

/** What a run did, told from its journal: a fold, so the same journal always gives the same trace. */
export function buildTrace(entries: readonly JournalEntry[], structure: StaticStructure): Trace {
  const answers = new Map(entries.filter((entry) => entry.kind === "answer").map((entry) => [entry.call, entry]));
  const decisions = entries
    .filter((entry) => entry.kind === "decision")
    .map(({ node, loop, outcome }) => ({ nodeId: node, loop, outcome }));
  const calls = entries.filter((entry) => entry.kind === "call");
  return {
    path: visitedNodes(structure, calls, decisions),
    decisions,
    tasks: nameTasks(calls.filter(({ target }) => target.kind !== "sleep")).map(([id, call]) =>
      traceTask(id, call, answers.get(call.seq)),
    ),
  };
}

/** Nodes that leave no entry of their own were visited when something inside or next to them was. */
function visitedNodes(
  structure: StaticStructure,
  calls: readonly CallEntry[],
  decisions: readonly TracedDecision[],
): string[] {
  const seen = new Set<string>();
  for (const { node, loop } of [...calls, ...decisions.map(({ nodeId, loop }) => ({ node: nodeId, loop }))]) {
    if (node !== undefined) seen.add(node);
    for (const step of loop.split("/")) {
      const [holder] = step.split(":");
      if (holder !== undefined && holder !== "") seen.add(holder);
    }
  }
  addSilentNodes(structure, seen);
  return structure.nodes.filter(({ id }) => seen.has(id)).map(({ id }) => id);
}

/** A loop whose body only calls a function of the program leaves no entry either: the function's calls have theirs. */
const SILENT: ReadonlySet<StructureNode["type"]> = new Set(["fork", "join", "try", "loop"]);

function addSilentNodes({ nodes, edges }: StaticStructure, seen: Set<string>): void {
  const silent = new Set(nodes.filter(({ type }) => SILENT.has(type)).map(({ id }) => id));
  const inner = edges.filter(({ type }) => type === "sequence" || type === "contains");
  // A join follows what it joins; everything else that is silent precedes what it holds.
  for (let found = true; found;) {
    found = false;
    for (const { from, to } of inner) {
      const holder = silent.has(from) && seen.has(to) ? from : silent.has(to) && isJoin(to) && seen.has(from) ? to : "";
      if (holder === "" || seen.has(holder)) continue;
      seen.add(holder);
      found = true;
    }
  }
}

function isJoin(id: string): boolean {
  return id.startsWith("j");
}

/** The node's id where it was called once; otherwise the loop iteration, and a number, make it unique. */
function nameTasks(calls: readonly CallEntry[]): [string, CallEntry][] {
  const used = new Map<string, number>();
  return calls.map((call) => {
    const place = `${call.node ?? "dynamic"}${call.loop === "" ? "" : `@${call.loop}`}`;
    const times = used.get(place) ?? 0;
    used.set(place, times + 1);
    return [times === 0 ? place : `${place}#${times}`, call];
  });
}

function traceTask(id: string, call: CallEntry, answer: AnswerEntry | undefined): TracedTask {
  const { target } = call;
  const named =
    target.kind === "capability"
      ? { tool: target.name, kind: "capability" as const }
      : { tool: target.kind === "tool" ? target.tool : "", kind: "tool" as const };
  const base = { id, nodeId: call.node, loop: call.loop, ...named };
  if (answer === undefined) return { ...base, status: "unfinished", durationMs: 0 };
  const timed = { ...base, durationMs: Math.max(0, answer.clock - call.at) };
  return answer.outcome.ok
    ? { ...timed, status: "success", result: answer.outcome.value }
    : { ...timed, status: "error", error: answer.outcome.error };
}

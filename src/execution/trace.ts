import type { StaticStructure } from "../analysis/structure.ts";
import type { JsonValue } from "../base/json.ts";
import type { AnswerEntry, CallEntry, JournalEntry } from "./journal.ts";

interface TracedDecision {
  readonly nodeId: string;
  readonly loop: string;
  readonly outcome: string;
}

/** One call of a run. `id` is unique in the run and identifies its stored result. */
interface TracedTask {
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
  /** Visited nodes, each once, in structure order. */
  readonly path: readonly string[];
  readonly decisions: readonly TracedDecision[];
  readonly tasks: readonly TracedTask[];
}

/** Derives a trace from a journal. Deterministic: equal journals give equal traces. */
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

/** Visited nodes, including those that leave no entry themselves. */
function visitedNodes(
  structure: StaticStructure,
  calls: readonly CallEntry[],
  decisions: readonly TracedDecision[],
): string[] {
  const seen = new Set<string>();
  for (const { node, loop } of [
    ...calls,
    ...decisions.map((decision) => ({ node: decision.nodeId, loop: decision.loop })),
  ]) {
    if (node !== undefined) seen.add(node);
    for (const step of loop.split("/")) {
      const [holder] = step.split(":");
      if (holder !== undefined && holder !== "") seen.add(holder);
    }
  }
  addSilentNodes(structure, seen);
  return structure.nodes.filter(({ id }) => seen.has(id)).map(({ id }) => id);
}

/**
 * Adds nodes without entries: a fork is visited with one of its branches, a loop or try with something inside, a join
 * with something that leads to it.
 */
function addSilentNodes({ nodes, edges }: StaticStructure, seen: Set<string>): void {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const steps = edges.flatMap(({ from, to, type }): [cause: string, visited: string][] => {
    if (type === "sequence" && types.get(from) === "fork") return [[to, from]];
    if (type === "sequence" && types.get(to) === "join") return [[from, to]];
    return type === "contains" ? [[to, from]] : [];
  });
  for (let grown = true; grown;) {
    const before = seen.size;
    for (const [cause, visited] of steps) if (seen.has(cause)) seen.add(visited);
    grown = seen.size > before;
  }
}

/** Ids of calls: the node, with the loop iteration and a number if needed to be unique. */
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

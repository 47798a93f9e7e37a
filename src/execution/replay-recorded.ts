import { canonical } from "../base/canonical.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { AnalysedProgram } from "../analysis/structure.ts";
import type { AnswerEntry, CallEntry, CallTarget, JournalEntry } from "./journal.ts";
import { targetOf } from "./run-calls.ts";
import { runBody } from "./run-session.ts";
import type { Run } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";
import type { CallAnswer, CallSite, GuestCall, RunHost, RunLimits, Sandbox } from "./worker-bridge.ts";

export interface ReplayParts {
  readonly sandbox: Sandbox;
  readonly limits: RunLimits;
  readonly tools: Catalogue;
}

/** A run that succeeded, with what it did. */
export interface RecordedRun {
  readonly run: Pick<Run, "seed" | "startedMs">;
  readonly entries: readonly JournalEntry[];
  readonly isRead: (tool: string) => boolean;
}

export interface ReplayedRun {
  readonly value: JsonValue;
  /** By the structure of the program that was replayed. */
  readonly trace: Trace;
}

/** A program that waits longer for nothing but recorded answers does something else than the run did. */
const LONGEST_MS = 5_000;

/**
 * Runs a program against the recorded answers of a run. Undefined unless it makes the same calls with the same
 * arguments, those with effects in the same order. Reaches no server.
 */
export async function replayRecorded(
  { sandbox, limits, tools }: ReplayParts,
  { program, args }: { readonly program: AnalysedProgram; readonly args: JsonObject },
  { run, entries, isRead }: RecordedRun,
): Promise<ReplayedRun | undefined> {
  const stop = new AbortController();
  const host = new RecordedHost(entries, tools, () => stop.abort());
  const { ended } = await runBody(
    {
      run: { args, seed: run.seed, startedMs: run.startedMs, options: {} },
      runnable: { body: { kind: "code", program } },
      sandbox,
      limits: { ...limits, wallMs: Math.min(limits.wallMs, LONGEST_MS) },
      depth: 0,
    },
    host,
    stop.signal,
  );
  if (ended.kind !== "returned" || !host.madeAllCalls(isRead)) return undefined;
  return { value: ended.value, trace: buildTrace(host.entries, program.structure) };
}

interface RecordedCall {
  readonly place: number;
  readonly call: CallEntry;
  readonly answer: AnswerEntry;
}

/** Answers calls from the journal of another run, by tool and arguments, and notes what the program did. */
class RecordedHost implements RunHost {
  readonly entries: JournalEntry[] = [];
  readonly #left: Map<string, RecordedCall[]>;
  readonly #made: RecordedCall[] = [];
  readonly #tools: Catalogue;
  readonly #stop: () => void;
  readonly #expected: number;
  #clock = 0;

  constructor(entries: readonly JournalEntry[], tools: Catalogue, stop: () => void) {
    const recorded = findAnswered(entries);
    this.#left = Map.groupBy(recorded, ({ call }) => callKey(call.target, call.args));
    this.#expected = recorded.length;
    this.#tools = tools;
    this.#stop = stop;
  }

  async call(call: GuestCall): Promise<CallAnswer> {
    const target = targetOf(call, this.#tools, () => "");
    if (target.kind === "sleep") return { ok: true, value: null, clock: this.#clock };
    const found = this.#left.get(callKey(target, call.args))?.shift();
    if (found === undefined) {
      this.#stop();
      return new Promise(() => undefined);
    }
    this.#made.push(found);
    const { node, loop, args } = call;
    this.#note({ kind: "call", node, loop, target, args, at: found.call.at });
    this.#clock = Math.max(this.#clock, found.answer.clock);
    return { ...found.answer.outcome, clock: this.#clock };
  }

  decided({ node, loop }: CallSite, outcome: string): void {
    if (node !== undefined) this.#note({ kind: "decision", node, loop, outcome });
  }

  logged(): void {
    // a replay discards output
  }

  madeAllCalls(isRead: (tool: string) => boolean): boolean {
    if (this.#made.length !== this.#expected) return false;
    const withEffects = this.#made.filter(({ call: { target } }) => target.kind !== "tool" || !isRead(target.tool));
    return withEffects.every(({ place }, index) => place > (withEffects[index - 1]?.place ?? -1));
  }

  #note(entry: JournalNote): void {
    this.entries.push({ ...entry, seq: this.entries.length });
  }
}

type JournalNote = Omit<CallEntry, "seq"> | Omit<Extract<JournalEntry, { kind: "decision" }>, "seq">;

/** Calls that were not awaited have no answer and count for nothing. */
function findAnswered(entries: readonly JournalEntry[]): RecordedCall[] {
  const answers = new Map(entries.filter((entry) => entry.kind === "answer").map((entry) => [entry.call, entry]));
  const calls = entries.filter((entry) => entry.kind === "call").filter(({ target }) => target.kind !== "sleep");
  return calls.flatMap((call, place) => {
    const answer = answers.get(call.seq);
    return answer === undefined ? [] : [{ place, call, answer }];
  });
}

function callKey(target: CallTarget, args: JsonValue): string {
  const name =
    target.kind === "tool" ? `tool ${target.tool}` : target.kind === "capability" ? `capability ${target.name}` : "";
  return `${name} ${canonical(args)}`;
}

import type { Catalogue } from "../catalogue/catalogue.ts";
import { formatCallName, formatToolId } from "../catalogue/tool-id.ts";
import { contentHash } from "../base/content-hash.ts";
import type { Decision } from "../permissions/plan.ts";
import type { JournalEntry } from "./journal.ts";
import type { PlannedCall } from "../contract/execute.ts";

import type { CallAnswer, GuestCall, RunHost } from "./worker-bridge.ts";

export interface DryRunOptions {
  readonly tools: Catalogue;
  /** Journals of the caller's earlier runs of the same program, newest first. */
  readonly journals: readonly (readonly JournalEntry[])[];
  readonly decide: (tool: string) => Promise<Decision>;
  /** Called once the program only waits for unknown answers. */
  readonly stop: () => void;
}

/** A program idle this long, with only unknown answers pending, cannot get further. */
const IDLE_MS = 250;

/** Hosts a program without calling anything; answers from the journals of earlier runs. */
export class DryRun implements RunHost {
  readonly #options: DryRunOptions;
  readonly #answers: ReadonlyMap<string, CallAnswer>;
  readonly plan: PlannedCall[] = [];
  #idle: NodeJS.Timeout | undefined;

  constructor(options: DryRunOptions) {
    this.#options = options;
    this.#answers = collectAnswers(options.journals);
  }

  async call(call: GuestCall): Promise<CallAnswer> {
    clearTimeout(this.#idle);
    if (call.kind === "sleep") return { ok: true, value: null, clock: 0 };
    const tool = this.#nameOf(call);
    const answer = this.#answers.get(callKey(tool, call.args));
    const decision = call.kind === "tool" ? await this.#decide(tool) : "unknown";
    this.plan.push({
      ...(call.node === undefined ? {} : { nodeId: call.node }),
      tool,
      args: call.args,
      decision,
      recorded: answer !== undefined,
    });
    if (answer !== undefined) return answer;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(this.#options.stop, IDLE_MS);
    return new Promise(() => undefined);
  }

  decided(): void {
    clearTimeout(this.#idle);
  }

  logged(): void {
    // a dry run discards output
  }

  #decide(tool: string): Promise<Decision | "unknown"> {
    return this.#options.tools.findById(tool) === undefined ? Promise.resolve("unknown") : this.#options.decide(tool);
  }

  #nameOf(call: Exclude<GuestCall, { kind: "sleep" }>): string {
    if (call.kind === "capability") return formatCallName(call.name);
    return this.#options.tools.findTool(call.server, call.tool)?.id ?? formatToolId(call.server, call.tool);
  }
}

function collectAnswers(journals: DryRunOptions["journals"]): Map<string, CallAnswer> {
  const answers = new Map<string, CallAnswer>();
  for (const entries of journals.toReversed()) {
    const calls = new Map(entries.filter((entry) => entry.kind === "call").map((entry) => [entry.seq, entry]));
    for (const entry of entries) {
      const call = entry.kind === "answer" ? calls.get(entry.call) : undefined;
      if (entry.kind !== "answer" || call === undefined || call.target.kind === "sleep") continue;
      const tool = call.target.kind === "tool" ? call.target.tool : formatCallName(call.target.name);
      answers.set(callKey(tool, call.args), { ...entry.outcome, clock: entry.clock });
    }
  }
  return answers;
}

function callKey(tool: string, args: GuestCall["args"]): string {
  return `${tool} ${contentHash(args)}`;
}

import type { Principal } from "../auth/principal.ts";
import { errorCode } from "./error-code.ts";
import type { UsageLog } from "./usage/usage-log.ts";
import type { ToolUse } from "./usage/usage-store.ts";

/** A tool call, whether an agent makes it itself or a program does. */
export interface ToolCall {
  /** As the caller spelled it. */
  readonly name: string;
  readonly args: unknown;
  readonly client: string | undefined;
  readonly principal?: Principal | undefined;
  /** For runs, which know no more of their principal than its id. */
  readonly principalId?: string | undefined;
  /** The run whose program makes the call. */
  readonly runId?: string;
  readonly signal: AbortSignal;
}

/** The server and the name under which the call is recorded. */
export interface ToolTarget {
  readonly server: string;
  readonly name: string;
}

/** A `tools/call` result as it came back. */
export type CallResult = Readonly<Record<string, unknown>>;

export interface SentCall {
  readonly result: CallResult;
  /** The error's code, where the result is an error that has one. */
  readonly errorCode?: string;
}

/** The steps in which callers differ: agents and programs have policies and forms of results of their own. */
export interface CallSteps<Target extends ToolTarget, Sent extends SentCall, Answer> {
  /** Finds what the name stands for; rejects where it stands for nothing. */
  resolve(name: string): Target | Promise<Target>;
  /** Rejects with the error the caller sees, where the call may not be made. */
  permit(target: Target): Promise<void>;
  send(target: Target): Promise<Sent>;
  /** Brings the result into the form and size the caller can take. */
  fit(sent: Sent, target: Target, size: number): Answer | Promise<Answer>;
}

/** Every tool call of the gateway takes this way: resolve, permit, send, record, fit. */
export async function callTool<Target extends ToolTarget, Sent extends SentCall, Answer>(
  call: ToolCall,
  steps: CallSteps<Target, Sent, Answer>,
  usage: Pick<UsageLog, "record">,
): Promise<Answer> {
  const use = new UseRecord(call, usage);
  try {
    const target = await steps.resolve(call.name);
    use.resolved(target);
    await steps.permit(target);
    use.sent();
    const sent = await steps.send(target);
    const size = use.answered(sent);
    return await steps.fit(sent, target, size);
  } catch (error) {
    use.failed(error);
    throw error;
  }
}

/** The call is not over: its server asks for something first. */
export function isQuestion(result: CallResult): boolean {
  return result["resultType"] === "input_required";
}

/** The row of usage that a call becomes, at most once. */
class UseRecord {
  readonly #call: ToolCall;
  readonly #usage: Pick<UsageLog, "record">;
  readonly #calledAt = new Date();
  readonly #started = performance.now();
  #target: ToolTarget;
  #state: "before" | "sent" | "over" = "before";

  constructor(call: ToolCall, usage: Pick<UsageLog, "record">) {
    this.#call = call;
    this.#usage = usage;
    this.#target = { server: "", name: call.name };
  }

  resolved(target: ToolTarget): void {
    this.#target = target;
  }

  sent(): void {
    this.#state = "sent";
  }

  /** Returns the size of the result. A question is recorded when its call is over. */
  answered({ result, errorCode: code }: SentCall): number {
    const size = estimateBytes(result);
    if (isQuestion(result)) this.#state = "over";
    else this.#record(result["isError"] === true ? "error" : "success", code, size);
    return size;
  }

  /** An error before the call went out is a refusal; a call that was given up before that is nothing. */
  failed(error: unknown): void {
    const { aborted } = this.#call.signal;
    if (this.#state === "sent") this.#record(aborted ? "cancelled" : "error", errorCode(error));
    else if (this.#state === "before" && !aborted) this.#record("refused", errorCode(error));
  }

  #record(outcome: ToolUse["outcome"], code: string | undefined, responseBytes = 0): void {
    this.#state = "over";
    const { args, client, principal, principalId, runId } = this.#call;
    this.#usage.record({
      server: this.#target.server,
      tool: this.#target.name,
      client,
      principal,
      principalId,
      ...(runId === undefined ? {} : { runId }),
      outcome,
      ...(code === undefined ? {} : { errorCode: code }),
      durationMs: performance.now() - this.#started,
      requestBytes: estimateBytes(args),
      responseBytes,
      calledAt: this.#calledAt,
    });
  }
}

/** Sums the lengths of all strings: close enough for statistics, without serialising megabytes once more. */
function estimateBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 2;
  for (const [key, member] of Object.entries(value)) sum += key.length + estimateBytes(member);
  return sum;
}

import { setTimeout as sleep } from "node:timers/promises";
import { PmlError } from "../../base/errors.ts";

export interface JsonPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Budget for all attempts together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Too many requests, unavailable, overloaded: worth a retry. */
const RETRIED_STATUSES = new Set([429, 503, 529]);
const MAX_ATTEMPTS = 3;
const DEFAULT_WAIT_MS = 500;

/** Posts to a model's server, retries with back-off while time is left, and returns the parsed answer. */
export async function postJson(post: JsonPost): Promise<unknown> {
  const until = performance.now() + post.timeoutMs;
  const signal = AbortSignal.any([post.signal, AbortSignal.timeout(post.timeoutMs)]);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(post, signal);
    if (answer.ok) return readAnswer(post, answer, signal);
    const waitMs = readWait(answer);
    const again = RETRIED_STATUSES.has(answer.status) && attempt < MAX_ATTEMPTS && performance.now() + waitMs < until;
    if (!again) throw await toFailure(post, answer);
    await answer.body?.cancel();
    await sleep(waitMs, undefined, { signal }).catch((cause: unknown) => rethrow(post, cause));
  }
}

async function send(post: JsonPost, signal: AbortSignal): Promise<Response> {
  const { url, headers, body } = post;
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
      // A redirect must not carry the API key to another host.
      redirect: "error",
    });
  } catch (cause) {
    return rethrow(post, cause);
  }
}

async function readAnswer(post: JsonPost, answer: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await answer.json();
  } catch (cause) {
    if (signal.aborted) return rethrow(post, cause);
    throw failed(post, "its answer is not JSON", cause);
  }
}

/** Reads `retry-after` in seconds or as a date. */
function readWait({ headers }: Response): number {
  const text = headers.get("retry-after");
  if (text === null) return DEFAULT_WAIT_MS;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : DEFAULT_WAIT_MS;
}

const LONGEST_EXCERPT = 200;

async function toFailure(post: JsonPost, answer: Response): Promise<PmlError> {
  const text = await answer.text().catch(() => "");
  return failed(post, `it answered ${answer.status}: ${text.slice(0, LONGEST_EXCERPT)}`, undefined);
}

function rethrow(post: JsonPost, cause: unknown): never {
  if (post.signal.aborted) throw cause;
  const late = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError");
  throw failed(
    post,
    late ? `no answer within ${post.timeoutMs / 1000} s (curation.timeoutSeconds)` : String(cause),
    cause,
  );
}

function failed({ url }: JsonPost, why: string, cause: unknown): PmlError {
  return new PmlError("model_failed", `The language model at ${new URL(url).host} gave no name: ${why}`, {
    hint: "Check curation.provider and curation.model; without a provider PML names by heuristics",
    cause,
  });
}

import { join } from "node:path";
import type { DatabaseClient } from "../db/client.ts";
import { isObject } from "../json.ts";
import type { Logger } from "../log.ts";
import { FinishLog } from "./finish-log.ts";
import { carryOut, describeEnd, type FinishedRun } from "./finish-store.ts";

/** Makes the end of runs certain. */
export interface Finisher extends AsyncDisposable {
  /** Resolves when what is to be remembered cannot be lost any more, and everything asked later sees it. */
  finish(finished: FinishedRun): Promise<void>;
}

export interface FinisherParts {
  readonly client: Pick<DatabaseClient, "engine" | "executePrepared" | "beforeUse">;
  readonly home: string;
  readonly log: Pick<Logger, "error">;
}

/** A server is quick and may have other readers: there a run has ended when the server says so. */
export function openFinisher(parts: FinisherParts): Finisher {
  return parts.client.engine === "pglite" ? new FinisherBehind(parts) : directly(parts.client);
}

export function directly(client: FinisherParts["client"]): Finisher {
  return {
    finish: (finished) => carryOut(client, [describeEnd(finished)]),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** So many are worked in together, at the latest so long after the first of them. */
const MOST_TOGETHER = 32;
const LONGEST_WAIT_MS = 100;
/** So many may wait for the database; after that runs wait with them. */
const MOST_BEHIND = 2 * MOST_TOGETHER;

/**
 * The embedded database takes longer to work an end in than to make it certain, so that is done in a file first, and
 * nobody waits for the rest. It is done for several runs at once, which costs little more than for one, but always
 * before anything else is asked of the database, which has one session: whoever asks finds it done. Doing it twice
 * changes nothing.
 */
class FinisherBehind implements Finisher {
  readonly #parts: FinisherParts;
  readonly #kept: FinishLog;
  readonly #behind = new Set<Promise<void>>();
  #waiting: string[] = [];
  #unsettled = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: FinisherParts) {
    this.#parts = parts;
    parts.client.beforeUse?.(() => this.#workIn());
    this.#kept = new FinishLog(join(parts.home, "finished-runs.log"));
    for (const line of this.#kept.left) this.#takeUp(line);
    this.#workIn();
  }

  async finish(finished: FinishedRun): Promise<void> {
    const end = describeEnd(finished);
    const isCertain = !finished.isNew && this.#unsettled < MOST_BEHIND && (await this.#keep(end));
    if (isCertain) this.#postpone(end);
    else await carryOut(this.#parts.client, [end]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#workIn();
    await Promise.all(this.#behind);
    await this.#kept[Symbol.asyncDispose]();
  }

  #keep(end: string): Promise<boolean> {
    return this.#kept.keep(end).then(
      () => true,
      () => false, // a disk that is full, say; then the database has to do, or tell why not
    );
  }

  /** From a process that died. */
  #takeUp(line: string): void {
    if (isEnd(line)) {
      this.#postpone(line);
      return;
    }
    this.#parts.log.error({ line: line.slice(0, 200) }, "the end of a run cannot be read");
    this.#kept.settle();
  }

  #postpone(end: string): void {
    this.#unsettled += 1;
    this.#waiting.push(end);
    if (this.#waiting.length >= MOST_TOGETHER) this.#workIn();
    else this.#timer ??= setTimeout(() => this.#workIn(), LONGEST_WAIT_MS);
  }

  #workIn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ends = this.#waiting;
    if (ends.length === 0) return;
    this.#waiting = [];
    const work = this.#carryOut(ends).finally(() => {
      this.#unsettled -= ends.length;
      this.#behind.delete(work);
    });
    this.#behind.add(work);
  }

  async #carryOut(ends: readonly string[]): Promise<void> {
    try {
      await carryOut(this.#parts.client, ends);
      for (const _end of ends) this.#kept.settle();
    } catch (error) {
      // One that is refused shall not cost the others.
      if (ends.length > 1 && isRefused(error)) for (const end of ends) await this.#carryOut([end]);
      else this.#giveUp(error);
    }
  }

  /** It stays in the file and is tried again at the next start, unless the database would refuse it again. */
  #giveUp(error: unknown): void {
    this.#parts.log.error({ error: String(error) }, "the end of a run could not be stored");
    if (isRefused(error)) this.#kept.settle();
  }
}

function isEnd(line: string): boolean {
  try {
    return isObject(JSON.parse(line));
  } catch {
    return false;
  }
}

/** The values or a constraint are the reason, not the state of the database. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[123]/.test(String(error.code));
}

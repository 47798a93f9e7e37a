import { join } from "node:path";
import type { DatabaseClient } from "../db/client.ts";
import type { Logger } from "../log.ts";
import { FinishLog } from "./finish-log.ts";
import { carryOut, type FinishedRun, type FinishStatement, toStatement } from "./finish-store.ts";

/** Makes the end of runs certain. */
export interface Finisher extends AsyncDisposable {
  /** Resolves when what is to be remembered cannot be lost any more, and everything asked later sees it. */
  finish(finished: FinishedRun): Promise<void>;
}

export interface FinisherParts {
  readonly client: Pick<DatabaseClient, "engine" | "executePrepared">;
  readonly home: string;
  readonly log: Pick<Logger, "error">;
}

/** A server is quick and may have other readers: there a run has ended when the server says so. */
export function openFinisher(parts: FinisherParts): Finisher {
  return parts.client.engine === "pglite" ? new FinisherBehind(parts) : directly(parts.client);
}

export function directly(client: FinisherParts["client"]): Finisher {
  return {
    finish: (finished) => carryOut(client, toStatement(finished)),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** So many may wait for the database; after that runs wait with them. */
const MOST_BEHIND = 32;

/**
 * The embedded database takes longer to work an end in than to make it certain, so that is done in a file
 * first, and nobody waits for the rest. It has one session that does one thing after the other: what is asked
 * of it later finds the work done. Doing it twice changes nothing.
 */
class FinisherBehind implements Finisher {
  readonly #parts: FinisherParts;
  readonly #kept: FinishLog;
  readonly #behind = new Set<Promise<void>>();

  constructor(parts: FinisherParts) {
    this.#parts = parts;
    this.#kept = new FinishLog(join(parts.home, "finished-runs.log"));
    for (const line of this.#kept.left) this.#takeUp(line);
  }

  async finish(finished: FinishedRun): Promise<void> {
    const statement = toStatement(finished);
    const isCertain = !finished.isNew && this.#behind.size < MOST_BEHIND && (await this.#keep(statement));
    if (isCertain) this.#carryOut(statement);
    else await carryOut(this.#parts.client, statement);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#behind);
    await this.#kept[Symbol.asyncDispose]();
  }

  #keep(statement: FinishStatement): Promise<boolean> {
    return this.#kept.keep(JSON.stringify(statement)).then(
      () => true,
      () => false, // a disk that is full, say; then the database has to do, or tell why not
    );
  }

  /** From a process that died. */
  #takeUp(line: string): void {
    try {
      this.#carryOut(JSON.parse(line) as FinishStatement);
    } catch (error) {
      this.#parts.log.error({ error: String(error), line: line.slice(0, 200) }, "the end of a run cannot be read");
      this.#kept.settle();
    }
  }

  #carryOut(statement: FinishStatement): void {
    const work = carryOut(this.#parts.client, statement).then(
      () => this.#kept.settle(),
      (error: unknown) => this.#giveUp(error),
    );
    this.#behind.add(work);
    void work.finally(() => this.#behind.delete(work));
  }

  /** It stays in the file and is tried again at the next start, unless the database would refuse it again. */
  #giveUp(error: unknown): void {
    this.#parts.log.error({ error: String(error) }, "the end of a run could not be stored");
    if (isRefused(error)) this.#kept.settle();
  }
}

/** The values or a constraint are the reason, not the state of the database. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[23]/.test(String(error.code));
}

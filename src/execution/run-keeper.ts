import { join } from "node:path";
import type { DatabaseClient } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Logger } from "../base/log.ts";
import { asFailure, describeEnd, endRuns, type FinishedRun, withoutDetails } from "./finish-store.ts";
import type { JournalEntry } from "./journal.ts";
import { describeNote, noteRuns } from "./note-store.ts";
import { RunLog } from "./run-log.ts";
import type { Lease, RunRecord } from "./run-store.ts";

/** Makes runs durable. Later queries see everything it has accepted. */
export interface RunKeeper extends AsyncDisposable {
  /** Resolves when the entries are durable. A lease starts the run. */
  note(run: RunRecord, entries: readonly JournalEntry[], lease?: Lease): Promise<void>;
  /** Resolves when the finished run is durable. Rejects if it cannot be stored; it has failed then. */
  finish(finished: FinishedRun): Promise<void>;
}

export interface KeeperParts {
  readonly client: Pick<DatabaseClient, "engine" | "executePrepared" | "beforeUse">;
  readonly home: string;
  readonly log: Pick<Logger, "error">;
  /** Takes known secrets out of the log, as the client does for the database. */
  readonly clean?: (text: string) => string;
}

/** On a PostgreSQL server writes go to the database directly: it is fast and may have other readers. */
export function openRunKeeper(parts: KeeperParts): RunKeeper {
  return parts.client.engine === "pglite" ? new WriteBehindKeeper(parts) : createDirectKeeper(parts);
}

export function createDirectKeeper(parts: Omit<KeeperParts, "home">): RunKeeper {
  const { client } = parts;
  return {
    note: (run, entries, lease) => noteRuns(client, [describeNote(run, entries, lease)]),
    finish: (finished) => endNow(parts, finished.run.id, describeEnd(finished)),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/**
 * Stores an end before anybody is told of it. A run whose end the database does not take has failed, so that nobody
 * hears of a success that is not there later.
 */
async function endNow({ client, log }: Omit<KeeperParts, "home">, run: string, end: string): Promise<void> {
  try {
    await endRuns(client, [end]);
  } catch (cause) {
    log.error({ run, error: String(cause) }, "the end of a run could not be stored");
    const problem = notStored(run, cause);
    const { code, message } = problem;
    // Without a database the run stays unfinished, and is resumed from its journal.
    await endRuns(client, [asFailure(end, { code, message })]).catch(() => undefined);
    throw problem;
  }
}

function notStored(run: string, cause: unknown): PmlError {
  const message = `The run ${run} made its calls, but its end could not be stored, so that it counts as failed`;
  return new PmlError("run_not_stored", message, {
    hint: "Look at what its calls changed before you run it again. The gateway's log says why: pml logs --level error",
    cause,
  });
}

/** A durable record that is not applied to the database yet. */
interface DurableRecord {
  readonly kind: "note" | "end";
  readonly run: string;
  /** JSON for the database. */
  readonly content: string;
}

/** Batch size and maximum delay of writes to the database. */
const BATCH_SIZE = 64;
const MAX_DELAY_MS = 100;
/** Maximum of queued and running writes; beyond it runs write synchronously. */
const MAX_UNAPPLIED = 4 * BATCH_SIZE;
/** Longer records are written to the database at once: they may be too large for it, and their writer must hear of that. */
const MAX_LOGGED_LENGTH = 1024 * 1024;

/**
 * Write-behind for the embedded database, which takes far longer to apply a write than a log takes to make it
 * durable. Appends to a log first and applies later, several runs per statement, and drops notes of runs that have
 * ended by then. Applies everything before any other query: the database has one session, so readers see all of it.
 * Applying twice is harmless.
 */
class WriteBehindKeeper implements RunKeeper {
  readonly #parts: KeeperParts;
  readonly #log: RunLog;
  readonly #writes = new Set<Promise<void>>();
  #queued: DurableRecord[] = [];
  #unapplied = 0;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    parts.client.beforeUse?.(() => this.#apply());
    this.#log = new RunLog(join(parts.home, "runs.log"));
    for (const line of this.#log.leftover) this.#recover(line);
    this.#apply();
  }

  note(run: RunRecord, entries: readonly JournalEntry[], lease?: Lease): Promise<void> {
    return this.#accept({ kind: "note", run: run.id, content: describeNote(run, entries, lease) });
  }

  /** Applies the end of a draft at once, since other gateways are notified of the new capability. */
  finish(finished: FinishedRun): Promise<void> {
    const end = { kind: "end", run: finished.run.id, content: describeEnd(finished) } as const;
    return finished.isNew ? this.#applyEnd(end) : this.#accept(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#apply();
    await Promise.all(this.#writes);
    await this.#log[Symbol.asyncDispose]();
  }

  async #accept(record: DurableRecord): Promise<void> {
    if (this.#log.isLarge) await (this.#draining ??= this.#drain());
    const isSmall = record.content.length <= MAX_LOGGED_LENGTH;
    if (isSmall && this.#unapplied < MAX_UNAPPLIED && (await this.#append(record))) this.#enqueue(record);
    else if (record.kind === "end") await this.#applyEnd(record);
    else await noteRuns(this.#parts.client, [record.content]);
  }

  /** Drains the queue; under constant load the log would never be idle and could not be truncated. */
  async #drain(): Promise<void> {
    while (this.#queued.length > 0 || this.#writes.size > 0) {
      this.#apply();
      await Promise.all(this.#writes);
    }
    this.#draining = undefined;
  }

  #append(record: DurableRecord): Promise<boolean> {
    const { clean = (text) => text } = this.#parts;
    return this.#log.append(clean(toLine(record))).then(
      () => true,
      () => false, // a full disk, for example; the database takes the write, or reports why not
    );
  }

  async #applyEnd(end: DurableRecord): Promise<void> {
    const isOfRun = ({ run }: DurableRecord): boolean => run === end.run;
    const noted = this.#queued.filter(isOfRun);
    this.#queued = this.#queued.filter((each) => !isOfRun(each));
    try {
      await endNow(this.#parts, end.run, end.content);
      this.#settle(noted);
    } catch (error) {
      this.#queued.unshift(...noted);
      throw error;
    }
  }

  /** Queues a record that a dead process left in the log. */
  #recover(line: string): void {
    const record = fromLine(line);
    if (record !== undefined) {
      this.#enqueue(record);
      return;
    }
    this.#parts.log.error({ line: line.slice(0, 200) }, "a record in the run log cannot be read");
    this.#log.settle();
  }

  #enqueue(record: DurableRecord): void {
    this.#unapplied += 1;
    this.#queued.push(record);
    if (this.#queued.length >= BATCH_SIZE) this.#apply();
    else this.#timer ??= setTimeout(() => this.#apply(), MAX_DELAY_MS);
  }

  /** Issues all statements at once, so that later queries run after them. */
  #apply(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { client } = this.#parts;
    const ends = this.#queued.filter(({ kind }) => kind === "end");
    const ended = new Set(ends.map(({ run }) => run));
    // The end of a run includes everything its notes contain.
    const [withEnds, notes] = partition(this.#queued, ({ run }) => ended.has(run));
    this.#queued = [];
    if (notes.length > 0) this.#track(this.#write(notes, () => noteRuns(client, notes.map(contentOf))));
    if (ends.length > 0) this.#track(this.#write(withEnds, () => endRuns(client, ends.map(contentOf))));
  }

  #track(work: Promise<void>): void {
    this.#writes.add(work);
    void work.finally(() => this.#writes.delete(work));
  }

  async #write(records: readonly DurableRecord[], write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.#settle(records);
    } catch (error) {
      const [first] = records;
      // One rejected record must not fail the others.
      if (records.length > 1 && isOfRecord(error)) await this.#writeSingly(records);
      else if (first?.kind === "end" && isOfRecord(error)) await this.#keepOutcome(first, error);
      else this.#giveUp(records, error);
    }
  }

  async #writeSingly(records: readonly DurableRecord[]): Promise<void> {
    const { client } = this.#parts;
    for (const each of records) {
      const store = each.kind === "end" ? endRuns : noteRuns;
      await this.#write([each], () => store(client, [each.content]));
    }
  }

  /** Stores at least how a run ended, since its caller was told. */
  async #keepOutcome(end: DurableRecord, cause: unknown): Promise<void> {
    try {
      await endRuns(this.#parts.client, [withoutDetails(end.content)]);
    } catch {
      this.#giveUp([end], cause);
      return;
    }
    this.#parts.log.error({ run: end.run, error: String(cause) }, "a run was stored without its details");
    this.#settle([end]);
  }

  #settle(records: readonly DurableRecord[]): void {
    this.#unapplied -= records.length;
    for (const _each of records) this.#log.settle();
  }

  /** Leaves records in the log for the next start, unless the database would reject them again. */
  #giveUp(records: readonly DurableRecord[], error: unknown): void {
    this.#parts.log.error({ error: String(error) }, "a record of the run log could not be stored");
    if (isRejected(error)) this.#settle(records);
    else this.#unapplied -= records.length;
  }
}

const contentOf = ({ content }: DurableRecord): string => content;

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

/** JSON may hold line separators other than \n. */
const LINE = /^(note|end) (\S+) (\{.*\})$/s;

function toLine({ kind, run, content }: DurableRecord): string {
  return `${kind} ${run} ${content}`;
}

function fromLine(line: string): DurableRecord | undefined {
  const [, kind, run = "", content = ""] = LINE.exec(line) ?? [];
  return (kind === "note" || kind === "end") && isJsonObject(content) ? { kind, run, content } : undefined;
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** SQLSTATE classes for bad values, constraints and limits, as opposed to a database that is unavailable. */
function isRejected(error: unknown): boolean {
  return /^(2[123]|54)/.test(sqlStateOf(error));
}

/** Includes a lack of memory, which a smaller record may not meet. */
function isOfRecord(error: unknown): boolean {
  return isRejected(error) || sqlStateOf(error).startsWith("53");
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

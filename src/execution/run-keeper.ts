import { join } from "node:path";
import type { DatabaseClient } from "../db/client.ts";
import { isObject } from "../base/json.ts";
import type { Logger } from "../base/log.ts";
import { describeEnd, endRuns, type FinishedRun } from "./finish-store.ts";
import type { JournalEntry } from "./journal.ts";
import { describeNote, noteRuns } from "./note-store.ts";
import { RunLog } from "./run-log.ts";
import type { Lease, Run } from "./run-store.ts";

/** Makes certain what runs do. Whatever is asked of the database later finds it there. */
export interface RunKeeper extends AsyncDisposable {
  /** Resolves when the entries cannot be lost any more. With a lease the run begins. */
  note(run: Run, entries: readonly JournalEntry[], lease?: Lease): Promise<void>;
  /** Resolves when what is to be remembered of it cannot be lost any more. */
  finish(finished: FinishedRun): Promise<void>;
}

export interface KeeperParts {
  readonly client: Pick<DatabaseClient, "engine" | "executePrepared" | "beforeUse">;
  readonly home: string;
  readonly log: Pick<Logger, "error">;
}

/** A server is quick and may have other readers: there a thing is certain when the server says so. */
export function openRunKeeper(parts: KeeperParts): RunKeeper {
  return parts.client.engine === "pglite" ? new KeeperBehind(parts) : directly(parts.client);
}

export function directly(client: KeeperParts["client"]): RunKeeper {
  return {
    note: (run, entries, lease) => noteRuns(client, [describeNote(run, entries, lease)]),
    finish: (finished) => endRuns(client, [describeEnd(finished)]),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** What was told to be certain. */
interface Promised {
  readonly kind: "note" | "end";
  readonly run: string;
  /** For the database. */
  readonly content: string;
}

/** So many are worked in together, at the latest so long after the first of them. */
const MOST_TOGETHER = 64;
const LONGEST_WAIT_MS = 100;
/** So many may wait for the database; after that runs wait with them. */
const MOST_BEHIND = 4 * MOST_TOGETHER;

/**
 * The embedded database takes far longer to work something in than to make it certain, so that is done in a file first,
 * and nobody waits for the rest. It is done for several runs at once, which costs little more than for one, and what a
 * run noted is not worked in at all when it has ended by then. But it is always done before anything else is asked of
 * the database, which has one session: whoever asks finds it there. Doing it twice changes nothing.
 */
class KeeperBehind implements RunKeeper {
  readonly #parts: KeeperParts;
  readonly #kept: RunLog;
  readonly #works = new Set<Promise<void>>();
  #waiting: Promised[] = [];
  #behind = 0;
  #timer: NodeJS.Timeout | undefined;
  #catchingUp: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    parts.client.beforeUse?.(() => this.#workIn());
    this.#kept = new RunLog(join(parts.home, "runs.log"));
    for (const line of this.#kept.left) this.#takeUp(line);
    this.#workIn();
  }

  note(run: Run, entries: readonly JournalEntry[], lease?: Lease): Promise<void> {
    return this.#promise({ kind: "note", run: run.id, content: describeNote(run, entries, lease) });
  }

  /** Others are told of a new capability, so that is not put off. */
  finish(finished: FinishedRun): Promise<void> {
    const end = { kind: "end", run: finished.run.id, content: describeEnd(finished) } as const;
    return finished.isNew ? this.#endNow(end) : this.#promise(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#workIn();
    await Promise.all(this.#works);
    await this.#kept[Symbol.asyncDispose]();
  }

  async #promise(promised: Promised): Promise<void> {
    if (this.#kept.isLarge) await (this.#catchingUp ??= this.#catchUp());
    if (this.#behind < MOST_BEHIND && (await this.#keep(promised))) this.#postpone(promised);
    else if (promised.kind === "end") await this.#endNow(promised);
    else await noteRuns(this.#parts.client, [promised.content]);
  }

  /** Under constant load there would never be a moment in which nothing is left to do and the file can be emptied. */
  async #catchUp(): Promise<void> {
    while (this.#waiting.length > 0 || this.#works.size > 0) {
      this.#workIn();
      await Promise.all(this.#works);
    }
    this.#catchingUp = undefined;
  }

  #keep(promised: Promised): Promise<boolean> {
    return this.#kept.keep(toLine(promised)).then(
      () => true,
      () => false, // a disk that is full, say; then the database has to do, or tell why not
    );
  }

  async #endNow(end: Promised): Promise<void> {
    const isOfRun = ({ run }: Promised): boolean => run === end.run;
    const noted = this.#waiting.filter(isOfRun);
    this.#waiting = this.#waiting.filter((each) => !isOfRun(each));
    try {
      await endRuns(this.#parts.client, [end.content]);
      this.#settle(noted);
    } catch (error) {
      this.#waiting.unshift(...noted);
      throw error;
    }
  }

  /** From a process that died. */
  #takeUp(line: string): void {
    const promised = fromLine(line);
    if (promised !== undefined) {
      this.#postpone(promised);
      return;
    }
    this.#parts.log.error({ line: line.slice(0, 200) }, "what was kept of a run cannot be read");
    this.#kept.settle();
  }

  #postpone(promised: Promised): void {
    this.#behind += 1;
    this.#waiting.push(promised);
    if (this.#waiting.length >= MOST_TOGETHER) this.#workIn();
    else this.#timer ??= setTimeout(() => this.#workIn(), LONGEST_WAIT_MS);
  }

  /** All questions are put at once, so that whatever is asked next comes after them. */
  #workIn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { client } = this.#parts;
    const ends = this.#waiting.filter(({ kind }) => kind === "end");
    const ended = new Set(ends.map(({ run }) => run));
    // An end has all that its run noted.
    const [withEnds, notes] = partition(this.#waiting, ({ run }) => ended.has(run));
    this.#waiting = [];
    if (notes.length > 0) this.#track(this.#carryOut(notes, () => noteRuns(client, notes.map(contentOf))));
    if (ends.length > 0) this.#track(this.#carryOut(withEnds, () => endRuns(client, ends.map(contentOf))));
  }

  #track(work: Promise<void>): void {
    this.#works.add(work);
    void work.finally(() => this.#works.delete(work));
  }

  async #carryOut(promised: readonly Promised[], together: () => Promise<void>): Promise<void> {
    try {
      await together();
      this.#settle(promised);
    } catch (error) {
      // One that is refused shall not cost the others.
      if (promised.length > 1 && isRefused(error)) await this.#carryOutSingly(promised);
      else this.#giveUp(promised, error);
    }
  }

  async #carryOutSingly(promised: readonly Promised[]): Promise<void> {
    const { client } = this.#parts;
    for (const each of promised) {
      const carryOut = each.kind === "end" ? endRuns : noteRuns;
      await this.#carryOut([each], () => carryOut(client, [each.content]));
    }
  }

  #settle(promised: readonly Promised[]): void {
    this.#behind -= promised.length;
    for (const _each of promised) this.#kept.settle();
  }

  /** They stay in the file and are tried again at the next start, unless the database would refuse them again. */
  #giveUp(promised: readonly Promised[], error: unknown): void {
    this.#parts.log.error({ error: String(error) }, "what was kept of a run could not be stored");
    if (isRefused(error)) this.#settle(promised);
    else this.#behind -= promised.length;
  }
}

const contentOf = ({ content }: Promised): string => content;

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

const LINE = /^(note|end) (\S+) (\{.*\})$/;

function toLine({ kind, run, content }: Promised): string {
  return `${kind} ${run} ${content}`;
}

function fromLine(line: string): Promised | undefined {
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

/** The values or a constraint are the reason, not the state of the database. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[123]/.test(String(error.code));
}

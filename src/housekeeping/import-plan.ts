import { v5 as namedId } from "uuid";
import { parseFqdn } from "../registry/fqdn.ts";
import type { Scope } from "../registry/scope.ts";

/** A version that the import takes. */
interface PlannedVersion {
  readonly hash: string;
  readonly toolsUsed: readonly string[];
  readonly calls: readonly string[];
}

/** A record of the file, by the id it has there. */
export interface PlannedRecord {
  readonly id: string;
  readonly displayName: string;
  /** The version that the file calls the current one. */
  readonly current: number;
  readonly isLive: boolean;
  readonly versions: Map<number, PlannedVersion>;
  readonly tags: Set<string>;
  /** Set for a record that is left out. */
  refusal?: string;
}

/** Ids of another scope's rows get new ids: the same organisation may hold the originals. */
const ID_SPACE = "5e2b9d3c-8f41-5a6e-b0c7-1d94e6a7f352";
const MOST_NOTES = 50;
const MOST_RECORDS = 1_000_000;

/** Knows which records of a file are taken, under which ids and names, and what to tell the person. */
export class ImportPlan {
  readonly scope: Scope;
  readonly from: Scope;
  /** The time of the import. Nothing in a file happened later. */
  readonly now = new Date();
  readonly records = new Map<string, PlannedRecord>();
  /** Ids in the file of the records that a call can name. */
  readonly names = new Map<string, string>();
  readonly #notes = new Map<string, number>();

  constructor(scope: Scope, from: Scope) {
    this.scope = scope;
    this.from = from;
    if (this.#isMoved) this.note(`Moved from the scope ${from.org}.${from.project} to ${scope.org}.${scope.project}`);
  }

  get #isMoved(): boolean {
    return this.scope.org !== this.from.org || this.scope.project !== this.from.project;
  }

  /** Equal notes are counted instead of repeated. */
  note(text: string): void {
    this.#notes.set(text, (this.#notes.get(text) ?? 0) + 1);
  }

  get notes(): string[] {
    const all = [...this.#notes].map(([text, times]) => (times === 1 ? text : `${text} (${times} times)`));
    const rest = all.length - MOST_NOTES;
    return rest > 0 ? [...all.slice(0, MOST_NOTES), `and ${rest} more notes`] : all;
  }

  get isFull(): boolean {
    return this.records.size >= MOST_RECORDS;
  }

  idOf(id: string): string {
    const { org, project } = this.scope;
    return this.#isMoved ? namedId(`${org}/${project}/${id}`, ID_SPACE) : id;
  }

  /** Finds a record that is taken, by its id in the file. */
  find(id: string): PlannedRecord | undefined {
    const record = this.records.get(id);
    return record?.refusal === undefined ? record : undefined;
  }

  /** The time in the file, or that of the import for a later one. */
  past(text: string): string {
    return Date.parse(text) > this.now.getTime() ? this.now.toISOString() : text;
  }

  /** An FQDN of the file in the scope of the import; undefined if it claims another source or another scope. */
  moveFqdn(text: string, firstHash: string): string | undefined {
    const parts = parseFqdn(text);
    const isTheirs = parts?.org === this.from.org && parts.project === this.from.project;
    if (parts === undefined || !isTheirs || !firstHash.startsWith(parts.hash)) return undefined;
    const { namespace, action, hash } = parts;
    if (!PLAIN.test(namespace) || !PLAIN.test(action)) return undefined;
    return [this.scope.org, this.scope.project, namespace, action, hash].join(".");
  }
}

const PLAIN = /^[A-Za-z0-9_-]{1,64}$/;

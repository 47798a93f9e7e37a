import type { Visibility } from "../../src/registry/record-words.ts";
import { type Asker, OWNER } from "../../src/registry/scope.ts";
import type { Random } from "./random.ts";

/** The full truth about a record, independent of visibility. */
export interface KnownRecord {
  readonly id: string;
  readonly org: string;
  readonly project: string;
  readonly creator: string;
  readonly visibility: Visibility;
  /** All text ever written into it that belongs to no other record. */
  readonly marks: Set<string>;
  /** All references that resolve to it. */
  readonly references: string[];
  removed: boolean;
}

const PRINCIPALS = [OWNER, "019a0000-0000-7000-8000-000000000001", "019a0000-0000-7000-8000-000000000002"];

/** A model of visibility, implemented independently of the product. */
export class Tenants {
  readonly records: KnownRecord[] = [];
  readonly #random: Random;
  #next = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  newMark(): string {
    this.#next += 1;
    return `mk${this.#next}z`;
  }

  pickAsker(): Asker {
    const org = this.#random.pick(["acme", "globex", "initech"]);
    return { scope: { org, project: this.#random.pick(["web", "ops"]) }, principal: this.#random.pick(PRINCIPALS) };
  }

  pickVisibility(): Visibility {
    return this.#random.pick(["private", "project", "org", "public"] as const);
  }

  /** Picks a record of any tenant, or one that never existed. */
  pickReference(): { readonly reference: string; readonly record: KnownRecord | undefined } {
    const record = this.records.length > 0 && this.#random.chance(90) ? this.#random.pick(this.records) : undefined;
    const reference = record === undefined ? `fs:${this.newMark()}` : this.#random.pick(record.references);
    return {
      reference: `${this.#random.pick(["", "cap:"])}${reference}${this.#random.pick(["", "", "@v1", "@latest"])}`,
      record,
    };
  }

  sees({ scope, principal }: Asker, record: KnownRecord): boolean {
    const theirs = principal === OWNER || principal === record.creator;
    const inProject = record.org === scope.org && record.project === scope.project;
    switch (record.visibility) {
      case "public":
        return true;
      case "org":
        return record.org === scope.org;
      case "project":
        return inProject;
      case "private":
      default:
        return inProject && theirs;
    }
  }

  visibleTo(asker: Asker): KnownRecord[] {
    return this.records.filter((record) => this.sees(asker, record));
  }

  /** Finds marks in a text that the asker neither sent nor may see. */
  leaksIn(text: string, asker: Asker, asked: string): string[] {
    const allowed = new Set(this.visibleTo(asker).flatMap(({ marks }) => [...marks]));
    const brought = new Set(asked.match(MARK));
    return [...new Set(text.match(MARK))].filter((mark) => !allowed.has(mark) && !brought.has(mark));
  }
}

const MARK = /mk\d+z/g;

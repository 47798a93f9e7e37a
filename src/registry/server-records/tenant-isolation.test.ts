import { indexTools } from "../../catalogue/catalogue.ts";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import { Random } from "../../../test/support/random.ts";
import { type KnownRecord, Tenants } from "../../../test/support/tenants.ts";
import { CapabilityRegistry } from "../capability-registry.ts";
import type { CapabilityRecord } from "../record.ts";
import type { Asker } from "../scope.ts";
import { NO_SIGNING } from "../signature.ts";
import type { DatabaseClient, Db } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import { inThread } from "../../../test/support/analyser.ts";
import { AnalysedPrograms } from "../../execution/analysed-programs.ts";
import { ServerRecords } from "./server-records.ts";

const noTools = { ...indexTools([]), version: 1, onChange: () => () => undefined };
const EVERY_STATE = ["draft", "active", "archived"] as const;
const MOST = 10_000;

/** Outcome of a request as text: an answer or a refusal. */
interface RequestOutcome {
  readonly text: string;
  readonly code: string;
  readonly value?: unknown;
}

function baseUrl(): string {
  return "http://registry.test";
}

class Scene {
  readonly random: Random;
  readonly tenants: Tenants;
  readonly registry: CapabilityRegistry;
  readonly servers: ServerRecords;

  readonly #db: Db;

  constructor({ db }: DatabaseClient, seed: number) {
    this.#db = db;
    this.random = new Random(seed);
    this.tenants = new Tenants(this.random);
    const analysed = new AnalysedPrograms(noTools, inThread);
    const policy = { strict: false, reserveDays: 30 };
    this.registry = new CapabilityRegistry({ db, policy: () => policy, prepare: (code) => analysed.prepare(code) });
    this.servers = new ServerRecords({ db, registry: this.registry, signing: NO_SIGNING, baseUrl });
  }

  /** Sends one random request as a random tenant; returns the problem with the answer, if any. */
  async step(): Promise<string[]> {
    const asker = this.tenants.pickAsker();
    const act = this.random.pick(["create", "create", "read", "read", "read", "change", "count"] as const);
    switch (act) {
      case "create":
        return this.#create(asker);
      case "read":
        return this.#read(asker);
      case "change":
        return this.#change(asker);
      case "count":
      default:
        return this.#count(asker);
    }
  }

  async #create(asker: Asker): Promise<string[]> {
    const mark = this.tenants.newMark();
    const visibility = this.tenants.pickVisibility();
    // Only admins make records visible beyond their project.
    const author = { ...asker, admin: true };
    if (this.random.chance(20)) {
      const text = JSON.stringify({ name: `io.test/${mark}`, description: mark, version: "1.0.0" });
      const outcome = await attempt(() => this.servers.register(author, { text, name: mark, visibility }));
      const made = await this.registry.whois(asker, `mcp:${mark}`);
      this.#know(asker, made, [mark]);
      return this.#leaks("register", asker, { asked: text, outcome });
    }
    // Tenants share some names, so marks identify the owner of a record.
    const name = this.random.chance(30) ? `fs:common${this.random.between(1, 3)}` : `fs:${mark}`;
    const request = { name, code: `return "${mark}"`, description: `about ${mark}`, tags: [mark, "all"], visibility };
    const outcome = await attempt(() => this.registry.save(author, request));
    if (outcome.code === "") {
      const { record } = outcome.value as { record: CapabilityRecord };
      this.#know(asker, record, [mark]);
      // Only capabilities that have succeeded are suggested.
      await this.#db.updateTable("capability_records").set({ state: "active" }).where("id", "=", record.id).execute();
    }
    return this.#leaks(`save ${name}`, asker, { asked: JSON.stringify(request), outcome });
  }

  async #read(asker: Asker): Promise<string[]> {
    const { reference, record } = this.tenants.pickReference();
    const read = this.random.pick(READS);
    const outcome = await attempt(() => this[read](asker, reference));
    const problems = this.#leaks(`${read} ${reference}`, asker, { asked: reference, outcome });
    const isForeign = record !== undefined && !this.tenants.sees(asker, record);
    if (!isForeign || (record.org === asker.scope.org && record.project === asker.scope.project)) return problems;
    // A hidden record must get exactly the answer of a missing one.
    const absent = reference
      .replaceAll(/mk\d+z/g, "mk0z")
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-/g, "00000000-0000-7000-8000-");
    if (absent === reference) return problems;
    const other = await attempt(() => this[read](asker, absent));
    const same = other.code === outcome.code && plain(other.text, absent) === plain(outcome.text, reference);
    return same
      ? problems
      : [...problems, `${read} ${reference} tells that it is there: ${outcome.text} / ${other.text}`];
  }

  async #change(asker: Asker): Promise<string[]> {
    const { reference } = this.tenants.pickReference();
    const mark = this.tenants.newMark();
    const change = this.random.pick(CHANGES);
    const before = (await attempt(() => this.registry.whois(asker, reference))).value as CapabilityRecord | undefined;
    const outcome = await attempt(() => this[change](asker, reference, mark));
    const problems = this.#leaks(`${change} ${reference}`, asker, { asked: `${reference} ${mark}`, outcome });
    if (outcome.code !== "") return problems;
    const { record } = outcome.value as { record: CapabilityRecord };
    const source = this.tenants.records.find(({ id }) => id === before?.id);
    const known = this.tenants.records.find(({ id }) => id === record.id);
    if (known === undefined) this.#know(asker, record, [mark, ...(source?.marks ?? [])]);
    else {
      known.marks.add(mark);
      known.references.push(record.displayName, record.fqdn);
      known.removed = change === "remove" || (known.removed && change !== "restore");
      if (known.org !== asker.scope.org || known.project !== asker.scope.project)
        return [...problems, `${change} ${reference} changed a record of ${known.org}.${known.project}`];
    }
    return problems;
  }

  async #count(asker: Asker): Promise<string[]> {
    const visible = this.tenants.visibleTo(asker).filter(({ removed }) => !removed);
    const own = visible.filter(({ org, project }) => org === asker.scope.org && project === asker.scope.project);
    const query = { limit: MOST, states: EVERY_STATE };
    const [all, mine] = [await this.registry.query(asker, query), await this.registry.list(asker, query)];
    const some = this.random.pick(["fs:common*", "*mk*", "mcp:*"]);
    const matching = await this.registry.query(asker, { ...query, pattern: some, text: "mk" });
    const problems = [all, mine, matching].flatMap((page) =>
      this.#leaks("query", asker, { asked: "", outcome: { code: "", text: JSON.stringify(page.records) } }),
    );
    const expected = [visible.length, own.length, visible.map(({ id }) => id).toSorted()];
    const found = [all.total, mine.total, all.records.map(({ id }) => id).toSorted()];
    return JSON.stringify(found) === JSON.stringify(expected)
      ? problems
      : [...problems, `counts ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`];
  }

  lookup = (asker: Asker, reference: string): Promise<unknown> => this.registry.lookup(asker, reference);
  whois = (asker: Asker, reference: string): Promise<unknown> => this.registry.whois(asker, reference);
  history = (asker: Asker, reference: string): Promise<unknown> => this.registry.history(asker, reference);
  resolve = (asker: Asker, reference: string): Promise<unknown> => this.registry.resolve(asker, reference);
  resolveInCode = (asker: Asker, reference: string): Promise<unknown> =>
    this.registry.resolve(asker, reference, { inCode: true });
  feedback = (asker: Asker, reference: string): Promise<unknown> =>
    this.registry.feedback(asker, { name: reference, success: true });
  serverJson = (asker: Asker, reference: string): Promise<unknown> => this.servers.export(asker, reference);

  rename = (asker: Asker, from: string, mark: string): Promise<unknown> =>
    this.registry.rename(asker, { from, to: `fs:${mark}`, via: "agent" });
  tag = (asker: Asker, name: string, mark: string): Promise<unknown> =>
    this.registry.tag(asker, { name, tags: [mark] });
  alias = (asker: Asker, name: string, mark: string): Promise<unknown> =>
    this.registry.alias(asker, { name, alias: `fs:${mark}` });
  update = (asker: Asker, name: string, mark: string): Promise<unknown> =>
    this.registry.update(asker, { name, code: `return "${mark}" + 1` });
  fork = (asker: Asker, source: string, mark: string): Promise<unknown> =>
    this.registry.fork(asker, { source, name: `${source.includes("mcp") ? "mcp" : "fs"}:${mark}` });
  archive = (asker: Asker, reference: string): Promise<unknown> => this.registry.archive(asker, reference);
  remove = (asker: Asker, reference: string): Promise<unknown> => this.registry.remove(asker, reference);
  restore = (asker: Asker, reference: string): Promise<unknown> => this.registry.restore(asker, reference);

  #know({ principal }: Asker, record: CapabilityRecord, marks: readonly string[]): void {
    const { id, org, project, visibility, displayName, fqdn } = record;
    this.tenants.records.push({
      id,
      org,
      project,
      visibility,
      creator: principal,
      marks: new Set([...marks, ...(displayName.match(/mk\d+z/g) ?? [])]),
      references: [displayName, fqdn, id, `${org}.${project}:${displayName}`],
      removed: false,
    } satisfies KnownRecord);
  }

  #leaks(what: string, asker: Asker, { asked, outcome }: { asked: string; outcome: RequestOutcome }): string[] {
    const leaked = this.tenants.leaksIn(outcome.text, asker, asked);
    if (leaked.length === 0) return [];
    return [`${what} of ${JSON.stringify(asker)} tells ${leaked.join(", ")}: ${outcome.text.slice(0, 500)}`];
  }
}

const READS = ["lookup", "whois", "history", "resolve", "resolveInCode", "feedback", "serverJson"] as const;
const CHANGES = ["rename", "tag", "alias", "update", "fork", "archive", "remove", "restore"] as const;

async function attempt(work: () => Promise<unknown>): Promise<RequestOutcome> {
  try {
    const value = await work();
    return { value, text: JSON.stringify(value), code: "" };
  } catch (error) {
    if (!(error instanceof PmlError)) throw error;
    const { message, hint, details, code } = error;
    return { text: JSON.stringify({ message, hint, details }), code };
  }
}

/** Removes the requested name and the closest match from the text. */
function plain(text: string, asked: string): string {
  return text.replaceAll(asked.replace(/^cap:/, ""), "…").replace(/Did you mean [^?]*\?|pml_discover finds[^"]*/, "");
}

describe.each(engines)("tenants on %s", (engine) => {
  test("no request reveals anything of another tenant", async () => {
    await using client = await openTestDatabase(engine);
    const scene = new Scene(client, 11);
    const problems: string[] = [];
    for (let round = 0; round < 300 && problems.length === 0; round += 1) problems.push(...(await scene.step()));
    expect(problems).toEqual([]);
    expect(scene.tenants.records.length).toBeGreaterThan(40);
  });
});

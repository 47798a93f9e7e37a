import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { type PersonAddress, readPersonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "./folder.ts";
import { forgeCapability, forgeExport } from "./forge-export.ts";
import { startGateway } from "./gateway-home.ts";
import { connectClient } from "./mcp-client.ts";
import type { Random } from "./random.ts";
import { servers } from "./upstream-servers.ts";

/** Two projects of one organisation, and another organisation. */
const SCOPES = ["acme.web", "acme.ops", "globex.shop"] as const;
const REACHES = ["own", "org", "open"] as const;
/** The readers of a text: its project, its organisation, everybody. */
type Reach = (typeof REACHES)[number];
const VISIBILITY = { own: "project", org: "org", open: "public" } as const;

interface Tenant {
  readonly scope: (typeof SCOPES)[number];
  readonly client: Client;
  readonly person: PersonAddress;
  readonly known: KnownCapability[];
  readonly runs: string[];
  readonly approvals: string[];
  /** Canaries that it sent itself: its memory may repeat the references to others that it asked for. */
  readonly mentioned: Set<string>;
}

interface KnownCapability {
  readonly name: string;
  readonly fqdn: string;
  readonly id: string;
  readonly reach: Reach;
  readonly result: string;
}

/** An answer with everything that was sent for it. */
interface Exchange {
  readonly what: string;
  readonly sent: string;
  readonly answer: string;
}

export interface StormReport {
  readonly operations: Record<string, number>;
  readonly problems: string[];
}

/** Canaries name their tenant, their reach, their field and a number. */
const CANARY = /qx(acmeweb|acmeops|globexshop)(own|org|open)[a-z]\d+q/g;

/**
 * Sends random requests to gateways of several scopes on one database, and looks into every answer for texts of others.
 * Each field of each record has a canary of its own, so that an answer which repeats the question leaks nothing.
 */
export class TenantStorm implements AsyncDisposable {
  readonly #random: Random;
  readonly #stack: AsyncDisposableStack;
  readonly #tenants: readonly Tenant[];
  readonly #folder: string;
  readonly report: StormReport = { operations: {}, problems: [] };
  #next = 0;

  private constructor(random: Random, stack: AsyncDisposableStack, scene: { tenants: Tenant[]; folder: string }) {
    this.#random = random;
    this.#stack = stack;
    this.#tenants = scene.tenants;
    this.#folder = scene.folder;
  }

  /** @param database URL of an empty database */
  static async start(random: Random, database: string): Promise<TenantStorm> {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await makeFolder());
    const tenants: Tenant[] = [];
    for (const scope of SCOPES) tenants.push(await startTenant(stack, { scope, database, folder: folder.path }));
    return new TenantStorm(random, stack, { tenants, folder: folder.path });
  }

  /** Stops at the first leak: later answers would only repeat it. */
  async run(operations: number, say: (line: string) => void = () => undefined): Promise<StormReport> {
    for (let done = 0; done < operations && this.report.problems.length === 0; done += 1) {
      await this.#step(this.#random.pick(this.#tenants));
      if ((done + 1) % 1_000 === 0) say(`${done + 1} operations`);
    }
    for (const tenant of this.#tenants) await this.#checkUnchanged(tenant);
    return this.report;
  }

  async #step(tenant: Tenant): Promise<void> {
    const acts = { create: 12, fail: 4, park: 4, foreign: 40, own: 20, http: 17, transfer: 3 } as const;
    const weighted = Object.entries(acts).flatMap(([act, weight]) => Array.from({ length: weight }, () => act));
    switch (this.#random.pick(weighted)) {
      case "create":
        return this.#create(tenant);
      case "fail":
        return this.#fail(tenant);
      case "park":
        return this.#park(tenant);
      case "foreign":
        return this.#askAboutOthers(tenant);
      case "own":
        return this.#askAboutOwn(tenant);
      case "http":
        return this.#fetch(tenant);
      default:
        return this.#transfer(tenant);
    }
  }

  #canary({ scope }: Tenant, reach: Reach, field: string): string {
    this.#next += 1;
    return `qx${scope.replace(".", "")}${reach}${field}${this.#next}q`;
  }

  async #create(tenant: Tenant): Promise<void> {
    const reach = this.#random.pick(REACHES);
    const [name, result] = [`util:${this.#canary(tenant, reach, "n")}`, this.#canary(tenant, reach, "r")];
    const request = {
      name,
      // Intents and arguments of a run are never shared, whatever its program is.
      intent: this.#canary(tenant, "own", "i"),
      args: { word: this.#canary(tenant, "own", "a") },
      description: this.#canary(tenant, reach, "d"),
      tags: [this.#canary(tenant, reach, "t")],
      visibility: "project",
      code: `console.log("${this.#canary(tenant, reach, "l")}"); return args.word === undefined ? 0 : "${result}"`,
    };
    const answer = await this.#call(tenant, "pml_execute", request);
    const made = parse<{ capabilityFqdn?: string; workflowId?: string }>(answer);
    if (made.workflowId !== undefined) tenant.runs.push(made.workflowId);
    if (made.capabilityFqdn === undefined) return;
    const { id = "" } = parse<{ id?: string }>(await this.#call(tenant, "dns:whois", { fqdn: made.capabilityFqdn }));
    const shared = { name: made.capabilityFqdn, visibility: VISIBILITY[reach] };
    await callDaemon(tenant.person, routes.shareRecord, { body: shared });
    tenant.known.push({ name, fqdn: made.capabilityFqdn, id, reach, result });
  }

  async #fail(tenant: Tenant): Promise<void> {
    const [intent, message] = [this.#canary(tenant, "own", "i"), this.#canary(tenant, "own", "e")];
    const answer = await this.#call(tenant, "pml_execute", { intent, code: `throw new Error("${message}")` });
    const { workflowId } = parse<{ workflowId?: string }>(answer);
    if (workflowId !== undefined) tenant.runs.push(workflowId);
  }

  async #park(tenant: Tenant): Promise<void> {
    const [intent, key] = [this.#canary(tenant, "own", "i"), this.#canary(tenant, "own", "a")];
    const code = `return (await mcp.counting.add({ key: "${key}" })).count`;
    const answer = await this.#call(tenant, "pml_execute", { intent, code });
    const { workflowId, approval } = parse<{ workflowId?: string; approval?: { id: string } }>(answer);
    if (workflowId !== undefined) tenant.runs.push(workflowId);
    if (approval !== undefined) tenant.approvals.push(approval.id);
  }

  /** Uses references of another tenant wherever a tool takes one. */
  async #askAboutOthers(tenant: Tenant): Promise<void> {
    const other = this.#random.pick(this.#tenants.filter((each) => each !== tenant));
    const found = other.known.length === 0 ? undefined : this.#random.pick(other.known);
    const { name = "util:nothing", fqdn = "a.b.c.d.0000", id = "00000000-0000-7000-8000-000000000000" } = found ?? {};
    const reference = this.#random.pick([name, fqdn, id, `${other.scope}:${name}`, `${fqdn}@v1`, `${name}@latest`]);
    const run = other.runs.length === 0 ? id : this.#random.pick(other.runs);
    const copy = `util:${this.#canary(tenant, "own", "n")}`;
    const requests: readonly (readonly [string, Record<string, unknown>])[] = [
      ["pml_execute", { capability: reference, args: { word: "w" }, intent: this.#canary(tenant, "own", "i") }],
      ["pml_execute", { code: `return await capabilities[${JSON.stringify(reference)}]({})`, intent: "nested" }],
      ["pml_execute", { continue_workflow: { workflow_id: run }, intent: "go on" }],
      ["pml_get_task_result", { workflow_id: run, task_id: "n1" }],
      ["pml_discover", { intent: `${name} ${fqdn}`, limit: 20 }],
      ["pml_list_capabilities", { search: name }],
      ["dns:lookup", { name: reference }],
      ["dns:whois", { fqdn: reference }],
      ["dns:history", { name: reference }],
      ["dns:query", { text: name.slice("util:".length), limit: 50 }],
      ["dns:fork", { source: reference, name: copy }],
      ["dns:rename", { name: reference, newName: copy }],
      ["dns:tag", { name: reference, tags: ["taken"] }],
      ["dns:update", { name: reference, code: "return 'taken'" }],
      ["dns:merge", { sources: [reference, reference], name: copy }],
      ["learn:feedback", { name: reference, success: false }],
      ["learn:archive", { name: reference }],
      ["learn:delete", { name: reference }],
      ["learn:restore", { name: reference }],
      [`cap:${reference}`, { word: "w" }],
    ];
    const [tool, request] = this.#random.pick(requests);
    const before = found?.reach === "open" ? undefined : await this.#count(other);
    await this.#call(tenant, tool, request);
    const after = before === undefined ? undefined : await this.#count(other);
    if (before !== after) this.report.problems.push(`${tool} of ${tenant.scope} changed a count of ${other.scope}`);
  }

  /** The number of records that a tenant finds, which only its own and shared records may change. */
  async #count(tenant: Tenant): Promise<unknown> {
    return parse<{ total?: number }>(await this.#call(tenant, "dns:query", { limit: 1 })).total;
  }

  async #askAboutOwn(tenant: Tenant): Promise<void> {
    const own = tenant.known.length === 0 ? undefined : this.#random.pick(tenant.known);
    const name = own?.name ?? "util:nothing";
    const requests: readonly (readonly [string, Record<string, unknown>])[] = [
      ["pml_execute", { capability: name, args: { word: "w" }, intent: this.#canary(tenant, "own", "i") }],
      ["pml_discover", { intent: "find a word", limit: 20 }],
      ["pml_list_capabilities", { limit: 50 }],
      ["pml_curate_capabilities", {}],
      ["dns:query", { namespace: "util", limit: 100, offset: this.#random.between(0, 50) }],
      ["dns:history", { name }],
      ["meta:stats", {}],
      ["meta:tools", {}],
      ["meta:servers", {}],
      ["learn:feedback", { name, success: true }],
      ["dns:whois", { fqdn: `${name}x` }],
    ];
    await this.#call(tenant, ...this.#random.pick(requests));
  }

  /** Reads the routes that the command line and the page use, with ids of others where they take one. */
  async #fetch(tenant: Tenant): Promise<void> {
    const other = this.#random.pick(this.#tenants.filter((each) => each !== tenant));
    const run = other.runs.at(-1) ?? "none";
    const approval = other.approvals.at(-1) ?? "none";
    const name = other.known.at(-1)?.fqdn ?? "none";
    const path = this.#random.pick([
      `${routes.listInbox.path}?all=true`,
      routes.getApproval.path.replace(":id", approval),
      routes.listRules.path,
      `${routes.listRuns.path}?limit=50`,
      routes.getRun.path.replace(":id", run),
      `${routes.getCapability.path}?name=${encodeURIComponent(name)}`,
      `${routes.listPublished.path}?text=${encodeURIComponent(name)}`,
      routes.getPublished.path.replace(":reference", encodeURIComponent(name)),
      routes.getCuration.path,
      routes.listTools.path,
      routes.reportNames.path,
      routes.listReviews.path,
      routes.listServers.path,
      routes.getStatus.path,
      routes.getIndex.path,
      routes.getMetrics.path,
    ]);
    this.#check(tenant, { what: path, sent: path, answer: await this.#send(tenant, path) });
  }

  /**
   * Tries twice: a gateway closes connections that are idle for some seconds, and where this process stood still that long
   * it uses one once more before it sees that. A gateway that is gone fails both.
   */
  async #send(tenant: Tenant, path: string, init: RequestInit = {}): Promise<string> {
    const { scope, person } = tenant;
    const headers = { Authorization: `Bearer ${person.token}`, ...init.headers };
    const send = async (): Promise<string> => (await fetch(new URL(path, person.url), { ...init, headers })).text();
    try {
      return await send();
    } catch (first) {
      this.report.operations["sent again"] = (this.report.operations["sent again"] ?? 0) + 1;
      return send().catch((second: unknown) => {
        const reasons = [first, second].map((error) => (error instanceof Error ? (error.cause ?? error) : error));
        throw new Error(`${path} of ${scope}: ${reasons.join(", then ")}`, { cause: first });
      });
    }
  }

  /** Exports, imports the own export again, or imports a file that claims to be another tenant's. */
  async #transfer(tenant: Tenant): Promise<void> {
    const exported = await this.#send(tenant, routes.exportMemory.path);
    this.#check(tenant, { what: "export", sent: "", answer: exported });
    const other = this.#random.pick(this.#tenants.filter((each) => each !== tenant));
    const [org = "", project = ""] = other.scope.split(".");
    const forged = forgeCapability(`util:${this.#canary(tenant, "own", "n")}`, `return "planted"`, {
      scope: { org, project },
      record: { visibility: "public", id: other.known.at(-1)?.id, description: this.#canary(tenant, "own", "d") },
    });
    const file = join(this.#folder, "forged.pml");
    const body = this.#random.chance(50) ? exported : await readFile(forgeExport(file, forged.rows), "utf8");
    const headers = { "X-PML-Decision-Key": tenant.person.decisionKey, "Content-Type": routes.importMemory.body };
    const answer = await this.#send(tenant, routes.importMemory.path, { method: "POST", headers, body });
    this.#check(tenant, { what: "import", sent: body, answer });
  }

  async #call(tenant: Tenant, tool: string, request: Record<string, unknown>): Promise<string> {
    const answer = await tenant.client
      .callTool({ name: tool, arguments: request })
      .then((result) => JSON.stringify(result))
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    this.#check(tenant, { what: tool, sent: `${tool} ${JSON.stringify(request)}`, answer });
    return answer;
  }

  #check({ scope, mentioned }: Tenant, { what, sent, answer }: Exchange): void {
    const kind = what
      .replace(/[?].*$/, "")
      .replace(/cap:.*/, "cap:")
      .replace(/\/(?:[0-9a-f-]{36}|apr_\w+|[\w.]+qx.*)$/, "/:id");
    this.report.operations[kind] = (this.report.operations[kind] ?? 0) + 1;
    for (const [canary] of sent.matchAll(CANARY)) mentioned.add(canary);
    const [org = ""] = scope.split(".");
    for (const [canary, owner = "", reach] of answer.matchAll(CANARY)) {
      const isOwn = owner === scope.replace(".", "");
      const isShared = reach === "open" || (reach === "org" && owner.startsWith(org));
      if (isOwn || isShared || mentioned.has(canary)) continue;
      this.report.problems.push(`${what} answered ${scope} with ${canary}: ${answer.slice(0, 400)}`);
      return;
    }
  }

  /** Every capability still does what it did when it was made. */
  async #checkUnchanged(tenant: Tenant): Promise<void> {
    for (const { name, result } of tenant.known) {
      const answer = await this.#call(tenant, "pml_execute", {
        capability: name,
        args: { word: "w" },
        intent: "again",
      });
      if (!answer.includes(result))
        this.report.problems.push(`${name} of ${tenant.scope} changed: ${answer.slice(0, 300)}`);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

interface TenantPlace {
  readonly scope: (typeof SCOPES)[number];
  readonly database: string;
  readonly folder: string;
}

async function startTenant(stack: AsyncDisposableStack, { scope, database, folder }: TenantPlace): Promise<Tenant> {
  const [org, project] = scope.split(".");
  const config = { scope: { org, project }, discovery: { tier: "lite" } };
  const counting = servers.counting(join(folder, `${scope}.txt`));
  const home = stack.use(await startGateway({ counting }, { env: { DATABASE_URL: database }, config }));
  await home.ready("counting");
  const { client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" }));
  const person = readPersonAddress(home.path);
  if (person === undefined) throw new Error(`no daemon runs for ${scope}`);
  return { scope, client, person, known: [], runs: [], approvals: [], mentioned: new Set() };
}

/** The document in the first text of a tool's result; empty for a refusal. */
function parse<T extends object>(answer: string): Partial<T> {
  try {
    const { content } = JSON.parse(answer) as { content?: { text?: string }[] };
    return JSON.parse(content?.[0]?.text ?? "{}") as Partial<T>;
  } catch {
    return {};
  }
}

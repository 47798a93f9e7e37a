/**
 * Every own tool and route, asked by the author, another principal and the owner about what one principal keeps. Each
 * value of hers has a canary; none of them may reach another principal, except those she shares under a name.
 */
import type { Client } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, test } from "vitest";
import type { RouteContract } from "../../src/contract/route.ts";
import { routes } from "../../src/contract/routes.ts";
import type { tools } from "../../src/contract/tools.ts";
import { execute } from "../support/execute.ts";
import { callJson } from "../support/names-scene.ts";
import { sharePrincipals } from "../support/principals-scene.ts";
import { currentRequest } from "../support/raw-http.ts";

const scene = sharePrincipals({
  config: {
    permissions: { allow: ["counting:read", "counting:list", "counting:slow"] },
    results: { maxBytes: 4_096 },
  },
});

const CANARY = /canary[a-z]+/g;
const SHARED = new Set(["canarysharedcode", "canaryshareddescription", "canarysharedtag"]);

/** Values of hers that she did not share. A caller's own question may come back to it. */
function leaksIn(answer: unknown, asked: unknown = ""): string[] {
  const brought = new Set(JSON.stringify(asked).match(CANARY));
  const seen = new Set(JSON.stringify(answer).match(CANARY));
  return [...seen].filter((each) => !SHARED.has(each) && !brought.has(each));
}

const known = { run: "", parked: "", approval: "", kept: "", privateId: "", privateFqdn: "", deletedId: "" };
const INTENT = "tend the canaryintent lighthouse of the northern pier";

beforeAll(async () => {
  const { ada } = scene();
  const secret = await execute(ada, {
    name: "db:secret",
    intent: INTENT,
    description: "canaryprivatedescription",
    tags: ["canaryprivatetag"],
    code: 'console.log("canarylog " + args.key); return { value: "canaryresult", read: await mcp.counting.read({ key: args.key }), text: "canaryprivatecode" }',
    args: { key: "canaryargument" },
    options: { context_tags: ["canarycontext"] },
  });
  known.run = secret.workflowId;
  await callJson(ada, "dns:rename", { name: "db:secret", newName: "db:hidden" });
  const { value } = await callJson<{ id: string; fqdn: string }>(ada, "dns:lookup", { name: "db:hidden" });
  [known.privateId, known.privateFqdn] = [value.id, value.fqdn];
  await execute(ada, {
    name: "db:shared",
    visibility: "project",
    intent: "canarysharedintent",
    description: "canaryshareddescription",
    tags: ["canarysharedtag"],
    code: 'await mcp.counting.read({ key: args.key }); return { code: "canarysharedcode", key: args.key }',
    args: { key: "canarysharedargument" },
  });
  await execute(ada, { intent: "canaryunnamedintent", code: 'return "canaryunnamedcode"' });
  await execute(ada, { name: "db:removed", code: 'return "canarydeleted"', description: "canarydeleteddescription" });
  known.deletedId = (await callJson<{ id: string }>(ada, "learn:delete", { name: "db:removed" })).value.id;
  const asked = await execute(ada, {
    intent: "canaryparkedintent",
    code: 'return await mcp.counting.add({ key: "canaryparked" })',
  });
  [known.parked, known.approval] = [asked.workflowId, asked.approval?.id ?? ""];
  const long = await ada.callTool({ name: "counting__list", arguments: { length: 3_000 } });
  known.kept = /"workflow_id":"([0-9a-f-]+)"/.exec(JSON.stringify(long._meta))?.[1] ?? "";
});

test("the canaries are where other principals look for them", async () => {
  const { ada, owner } = scene();
  expect(Object.values(known).filter((each) => each === "")).toEqual([]);
  const own = await execute(ada, { continue_workflow: { workflow_id: known.run } });
  expect(leaksIn(own)).toEqual(["canaryprivatecode", "canaryresult"]);
  const { text } = await callJson(owner, "dns:whois", { fqdn: "db:hidden" });
  expect(leaksIn(text)).toEqual(expect.arrayContaining(["canaryprivatedescription", "canaryprivatetag"]));
});

type ToolName = keyof typeof tools;
/** `ok`, or the code of the error. */
type Outcome = string;
interface Row {
  readonly input: () => Record<string, unknown>;
  readonly author: Outcome;
  readonly other: Outcome;
  readonly owner: Outcome;
}

const always = (input: () => Record<string, unknown>): Row => ({ input, author: "ok", other: "ok", owner: "ok" });
const onPrivate = (input: () => Record<string, unknown>): Row => ({
  input,
  author: "ok",
  other: "capability_not_found",
  owner: "ok",
});
const onShared = (input: () => Record<string, unknown>): Row => ({
  input,
  author: "ok",
  other: "capability_foreign",
  owner: "ok",
});

/** Rows that reach the private record by name, former name, id and FQDN. */
const byEveryName = (key: string): Row[] =>
  [(): string => "db:hidden", () => "db:secret", () => known.privateId, () => known.privateFqdn].map((reference) =>
    onPrivate(() => ({ [key]: reference() })),
  );

/** At least one row for each own tool: the compiler asks for those of a new one. */
const MATRIX: Readonly<Record<ToolName, readonly Row[]>> = {
  pml_execute: [
    ...byEveryName("capability").map((row) => ({ ...row, input: () => ({ ...row.input(), args: { key: "k" } }) })),
    always(() => ({ capability: "db:shared", args: { key: "k" } })),
    always(() => ({ intent: INTENT })),
    always(() => ({ capability: "db:shared", args: { key: "canarysharedargument" }, options: { dry_run: true } })),
    {
      input: () => ({ continue_workflow: { workflow_id: known.run } }),
      author: "ok",
      other: "run_not_found",
      owner: "run_not_found",
    },
    {
      input: () => ({ continue_workflow: { workflow_id: known.parked } }),
      author: "ok",
      other: "run_not_found",
      owner: "run_not_found",
    },
  ],
  pml_discover: [
    always(() => ({ intent: INTENT, detail: "full", include_code: true, limit: 50 })),
    always(() => ({ intent: "canarysharedintent", detail: "full", include_code: true, limit: 50 })),
    always(() => ({ intent: "lighthouse", filter: { type: "capability" }, context_tags: ["canarycontext"] })),
  ],
  pml_get_task_result: [
    {
      input: () => ({ workflow_id: known.kept, task_id: "call" }),
      author: "ok",
      other: "result_not_found",
      owner: "result_not_found",
    },
    {
      input: () => ({ workflow_id: known.run, task_id: "n1" }),
      author: "ok",
      other: "result_not_found",
      owner: "result_not_found",
    },
  ],
  pml_list_capabilities: [always(() => ({ limit: 200 })), always(() => ({ pattern: "*", sort_by: "usage", limit: 1 }))],
  pml_curate_capabilities: [always(() => ({ strategy: "suggest", filter: { unnamed_only: false } }))],
  "dns:lookup": [...byEveryName("name"), always(() => ({ name: "db:shared" }))],
  "dns:query": [
    always(() => ({ limit: 200 })),
    always(() => ({ created_by: "ada*", limit: 200 })),
    always(() => ({ text: "canaryprivatedescription" })),
    always(() => ({ tags: ["canaryprivatetag"] })),
    always(() => ({ visibility: "private" })),
    always(() => ({ archived: true })),
  ],
  "dns:whois": [...byEveryName("fqdn"), always(() => ({ fqdn: "db:shared" }))],
  "dns:history": [...byEveryName("name"), always(() => ({ name: "db:shared" }))],
  "dns:rename": [
    onPrivate(() => ({ name: "db:hidden", newName: "db:hidden" })),
    onShared(() => ({ name: "db:shared", newName: "db:shared" })),
  ],
  "dns:tag": [
    onPrivate(() => ({ name: "db:hidden", tags: ["canaryprivatetag"] })),
    onShared(() => ({ name: "db:shared", tags: ["canarysharedtag"] })),
  ],
  "dns:fork": [
    {
      ...onPrivate(() => ({ source: known.privateId, name: `db:copy${Math.random().toString(36).slice(2)}` })),
      owner: "ok",
    },
    always(() => ({ source: "db:shared", name: `db:copy${Math.random().toString(36).slice(2)}` })),
  ],
  "dns:merge": [
    onPrivate(() => ({ sources: ["db:hidden", "db:shared"], name: `db:both${Math.random().toString(36).slice(2)}` })),
  ],
  "dns:update": [
    onPrivate(() => ({ name: "db:hidden", code: 'return "canaryupdate"' })),
    onShared(() => ({ name: "db:shared", code: 'return "canarysharedcode"' })),
  ],
  "meta:tools": [always(() => ({ limit: 1_000 })), always(() => ({ server: "pml-capabilities" }))],
  "meta:servers": [always(() => ({}))],
  "meta:stats": [always(() => ({ days: 1 }))],
  "learn:save": [onShared(() => ({ name: "db:shared", on_conflict: "version", code: `return ${Math.random()}` }))],
  "learn:feedback": [
    onPrivate(() => ({ name: "db:hidden", success: false })),
    always(() => ({ name: "db:shared", success: true })),
  ],
  "learn:archive": [
    { ...onShared(() => ({ name: "db:shared" })), author: "ok", owner: "ok" },
    { input: () => ({ name: "db:hidden" }), author: "ok", other: "capability_not_found", owner: "ok" },
  ],
  "learn:restore": [
    onPrivate(() => ({ name: known.deletedId })),
    onShared(() => ({ name: "db:shared" })),
    onPrivate(() => ({ name: "db:hidden" })),
  ],
  "learn:delete": [onPrivate(() => ({ name: "db:doomed" })), onShared(() => ({ name: "db:doomed_too" }))],
  "learn:curate": [always(() => ({ strategy: "suggest" }))],
};

interface Failure {
  readonly code?: string;
  readonly error?: { readonly code?: string };
}

function errorCode(value: Failure | undefined): string | undefined {
  return value?.error?.code ?? value?.code;
}

async function ask(
  by: Client,
  tool: string,
  input: Record<string, unknown>,
): Promise<{ outcome: Outcome; answer: unknown }> {
  const given = tool === "pml_execute" ? { intent: "a question", ...input } : input;
  const answer = await callJson<Failure | undefined>(by, tool, given);
  const { isError, value } = answer;
  return { outcome: isError ? (errorCode(value) ?? answer.text) : "ok", answer };
}

describe("M1, M2: each own tool tells another principal what is shared, and nothing else", () => {
  test.each(Object.entries(MATRIX))("%s", async (tool, rows) => {
    const { ada, bob, owner } = scene();
    for (const name of ["db:doomed", "db:doomed_too"]) {
      await execute(ada, { name, code: `return "${name}"`, visibility: name === "db:doomed" ? "private" : "project" });
    }
    for (const row of rows) {
      const input = row.input();
      const other = await ask(bob, tool, input);
      expect([input, other.outcome]).toEqual([input, row.other]);
      expect([input, leaksIn(other.answer, input)]).toEqual([input, []]);
      // Each of them finds the record as the one before left it, so that deleting it is the author's.
      const callers = tool === "learn:delete" ? { author: ada } : { owner, author: ada };
      for (const [role, by] of Object.entries(callers)) {
        expect([role, (await ask(by, tool, row.input())).outcome]).toEqual([role, row[role as "owner" | "author"]]);
      }
    }
  });
});

test("M1: no route answers a principal, except the public ones, which know nothing of hers", async () => {
  const { gateway } = scene();
  const token = await gateway.issuer.sign({ sub: "bob", scope: "mcp" });
  const all: readonly RouteContract[] = Object.values(routes);
  for (const { method, path, access } of all) {
    const ids = [known.run, known.approval, known.privateFqdn, "db:hidden"];
    for (const id of path.includes(":") ? ids : [""]) {
      const address = path.replace(/:[a-z]+/g, encodeURIComponent(id));
      const { status, text } = await gateway.send({ method, path: address }, token);
      expect([address, access !== undefined || status === 401]).toEqual([address, true]);
      expect([address, leaksIn(text)]).toEqual([address, []]);
    }
  }
  expect(all.filter(({ access }) => access === undefined).length).toBeGreaterThan(20);
});

describe("further attempts of another principal", () => {
  test("lists of tools, prompts and resources have nothing of hers", async () => {
    const { bob } = scene();
    const listed = [
      await bob.listTools({}, { cacheMode: "refresh" }),
      await bob.listPrompts(),
      await bob.listResources(),
    ];
    expect(leaksIn(listed)).toEqual([]);
    expect(JSON.stringify(listed)).not.toContain("hidden");
  });

  test("an approved parked run of hers can neither be continued nor abandoned, and stays parked", async () => {
    const { ada, bob, admin, owner } = scene();
    for (const by of [bob, admin, owner]) {
      for (const approved of [true, false]) {
        const going = { continue_workflow: { workflow_id: known.parked, approved } };
        expect((await execute(by, going)).error?.code).toBe("run_not_found");
      }
    }
    const still = await execute(ada, { continue_workflow: { workflow_id: known.parked } });
    expect(still.status).toBe("approval_required");
  });

  test("her private name is taken, and nothing is said about its holder", async () => {
    const { bob } = scene();
    for (const name of ["db:hidden", "db:secret"]) {
      for (const on_conflict of ["error", "version"]) {
        const answer = await execute(bob, { name, on_conflict, code: `return "mine ${on_conflict}"` });
        expect(answer.error?.code).toBe("capability_name_taken");
        expect(JSON.stringify(answer)).not.toContain(known.privateId);
        expect(JSON.stringify(answer)).not.toContain(name === "db:secret" ? "db:hidden" : "db:secret");
      }
    }
    await execute(bob, { name: "db:of_bob", code: 'return "of bob"' });
    const renamed = await callJson(bob, "dns:rename", { name: "db:of_bob", newName: "db:secret" });
    expect(renamed.text).toContain("already exists");
    expect(renamed.text).not.toContain("db:hidden");
  });

  test("her names are no advice for a name that is nearly the same", async () => {
    const { bob } = scene();
    const { text } = await callJson(bob, "dns:lookup", { name: "db:hiddem" });
    expect(text).not.toContain("db:hidden");
  });

  test("a program and a pipeline of another's reach her private capability by no name", async () => {
    const { ada, bob } = scene();
    const spellings = ['capabilities["db:hidden"]', "capabilities.hidden", 'capabilities["cap:db:secret"]'];
    for (const call of spellings) {
      const code = `return await ${call}()`;
      const answer = await execute(bob, { code });
      expect([call, answer.status]).toEqual([call, "error"]);
      expect(leaksIn(answer)).toEqual([]);
      const own = await execute(ada, { code });
      expect([call, own.status, own.error]).toEqual([call, "success", undefined]);
    }
  });

  test("a name that she resolved just before is not found for another", async () => {
    const { ada, bob } = scene();
    for (let each = 0; each < 3; each += 1) {
      expect((await ask(ada, "dns:lookup", { name: "db:hidden" })).outcome).toBe("ok");
      expect((await ask(bob, "dns:lookup", { name: "db:hidden" })).outcome).toBe("capability_not_found");
    }
    const tried = await callJson(bob, "cap__db__hidden", { key: "k" });
    const nothing = await callJson(bob, "cap__db__nothing", { key: "k" });
    expect(tried.text.replace("hidden", "nothing")).toBe(nothing.text);
  });

  test("the same program as her private one is a capability of his own", async () => {
    const { ada, bob } = scene();
    const code = 'return "the same program"';
    const hers = await execute(ada, { name: "util:hers", code });
    const his = await execute(bob, { name: "util:his", code });
    expect(his.capabilityId).not.toBe(hers.capabilityId);
    expect(his).toMatchObject({ status: "success", capabilityName: "util:his" });
  });

  test("figures of use are the caller's own", async () => {
    const { bob, gateway } = scene();
    await using fresh = await gateway.connect(await gateway.issuer.sign({ sub: "carol", scope: "mcp" }), "auto");
    expect((await callJson<{ tools: unknown[] }>(fresh, "meta:stats", { days: 1 })).value.tools).toEqual([]);
    const { value } = await callJson<{ naming?: unknown }>(bob, "meta:stats", { days: 1 });
    expect(value.naming).toBeUndefined();
  });

  test("the page of her approval shows nothing without the key", async () => {
    const { gateway } = scene();
    const { text } = await gateway.send({ method: "GET", path: `/approvals/${known.approval}` });
    expect(leaksIn(text)).toEqual([]);
    expect(text).not.toContain("counting:add");
  });

  test("a call of hers is neither cancelled nor followed with its id and progress token", async () => {
    const { gateway } = scene();
    const [ada, bob] = await Promise.all(["ada", "bob"].map((sub) => gateway.issuer.sign({ sub, scope: "mcp" })));
    const slow = currentRequest("tools/call", { name: "counting__slow", arguments: { ms: 400 } });
    const hers = gateway.send(slow, ada);
    const cancel = {
      ...slow,
      body: { jsonrpc: "2.0" as const, method: "notifications/cancelled", params: { requestId: slow.body.id } },
    };
    await gateway.send(cancel, bob);
    expect((await hers).text).toContain("waited");
  });

  test("an admin changes what is shared, and sees no more than others", async () => {
    const { admin } = scene();
    expect((await ask(admin, "dns:lookup", { name: "db:hidden" })).outcome).toBe("capability_not_found");
    expect((await ask(admin, "learn:restore", { name: known.deletedId })).outcome).toBe("capability_not_found");
    expect((await ask(admin, "pml_get_task_result", { workflow_id: known.kept, task_id: "call" })).outcome).toBe(
      "result_not_found",
    );
    expect(leaksIn((await ask(admin, "pml_list_capabilities", { limit: 200 })).answer)).toEqual([]);
    expect((await ask(admin, "dns:tag", { name: "db:shared", tags: ["canarysharedtag"] })).outcome).toBe("ok");
  });
});

/** One principal against another on the same gateway: runs, results, records, names. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { callJson } from "../support/names-scene.ts";
import { sharePrincipals } from "../support/principals-scene.ts";

const scene = sharePrincipals({ config: { discovery: { runAbove: 0.5 } } });

interface Brief {
  readonly display_name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly version: number;
  readonly state: string;
  readonly visibility: string;
  readonly usage_count: number;
  readonly success_rate: number;
}

const lookup = async (by: Client, name: string): Promise<Brief> =>
  (await callJson<Brief>(by, "dns:lookup", { name })).value;

const READ = "return await mcp.counting.read({ key: args.key })";

test("M1: a dry run is answered from the caller's own runs, never from another principal's", async () => {
  const { ada, bob, owner } = scene();
  const named = await execute(ada, {
    name: "db:journal",
    visibility: "project",
    code: READ,
    args: { key: "canary-journal" },
  });
  expect(named).toMatchObject({ status: "success", result: { count: expect.any(Number) as number } });
  const dry = { capability: "db:journal", args: { key: "canary-journal" }, options: { dry_run: true } };
  const own = await execute(ada, dry);
  expect(own).toMatchObject({ plan: [{ recorded: true }], result: named.result });
  for (const other of [bob, owner]) {
    const answer = await execute(other, dry);
    expect(answer).toMatchObject({ plan: [{ recorded: false }] });
    expect(answer.result).toBeUndefined();
  }
});

test.each(["memoize", "persistent"])(
  "M1: a result kept by cache policy %s is given again to its principal only",
  async (policy) => {
    const { ada, bob } = scene();
    const name = `db:cached_${policy}`;
    const code = `return { ${policy}: await mcp.counting.read({ key: args.key }) }`;
    const first = await execute(ada, { name, code, visibility: "project", args: { key: "k" } });
    await callJson(ada, "dns:tag", { name, cache_policy: policy });
    const run = async (by: Client): Promise<unknown> =>
      (await execute(by, { capability: name, args: { key: "k" } })).result;
    const kept = await run(ada);
    expect(kept).not.toEqual(first.result);
    expect(await run(ada)).toEqual(kept);
    const others = await run(bob);
    expect(others).not.toEqual(kept);
    expect(await run(bob)).toEqual(others);
    expect(await run(ada)).toEqual(kept);
  },
);

test("M1: a program without a name is its author's: neither text nor intent reaches another principal", async () => {
  const { ada, bob, owner } = scene();
  for (const author of [ada, owner]) {
    const secret = author === ada ? "canaryofada" : "canaryofowner";
    const made = await execute(author, { intent: `look after ${secret} mangroves`, code: `return "${secret}".length` });
    const name = made.capabilityName;
    expect(name).toMatch(/^unnamed_/);
    expect((await callJson(author, "dns:lookup", { name })).isError).toBe(false);
    const seen = [
      (
        await callJson(bob, "pml_discover", {
          intent: `look after ${secret} mangroves`,
          detail: "full",
          include_code: true,
        })
      ).text,
      (await callJson(bob, "pml_list_capabilities", { named_only: false, limit: 200 })).text,
      (await callJson(bob, "dns:query", { limit: 200 })).text,
      (await callJson(bob, "pml_curate_capabilities", { strategy: "suggest", filter: {} })).text,
      JSON.stringify(await execute(bob, { intent: `look after ${secret} mangroves` })),
      JSON.stringify(await execute(bob, { intent: `look after ${secret} mangroves`, options: { detail: "full" } })),
      (await callJson(bob, "dns:whois", { fqdn: made.capabilityId })).text,
      (await callJson(bob, "dns:fork", { source: name, name: "util:stolen" })).text,
    ].map((text) => text.replaceAll(`look after ${secret} mangroves`, "")); // an answer may quote the question
    expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    expect(seen.at(-1)).toContain("capability_not_found");
  }
});

describe("M2: another principal's capability", () => {
  const CODE = 'return "shared"';
  const ATTEMPTS: readonly (readonly [tool: string, input: Record<string, unknown>])[] = [
    ["dns:rename", { name: "util:of_ada", newName: "util:of_bob" }],
    ["dns:tag", { name: "util:of_ada", tags: ["bob"] }],
    ["dns:tag", { name: "util:of_ada", cache_policy: "persistent" }],
    ["dns:tag", { name: "util:of_ada", routing: "cloud" }],
    ["dns:update", { name: "util:of_ada", code: 'return "bob was here"' }],
    ["learn:save", { name: "util:of_ada", code: "return 'bob again'", on_conflict: "version" }],
    ["learn:archive", { name: "util:of_ada" }],
    ["learn:delete", { name: "util:of_ada" }],
    ["learn:restore", { name: "util:put_away" }],
    ["dns:merge", { sources: ["util:of_ada", "util:of_ada"], name: "util:of_ada" }],
  ];

  const before = async (): Promise<Brief> => {
    const { ada } = scene();
    await execute(ada, {
      name: "util:of_ada",
      visibility: "project",
      code: CODE,
      description: "Ada's own",
      tags: ["ada"],
    });
    await execute(ada, { name: "util:put_away", visibility: "project", code: 'return "away"' });
    await callJson(ada, "learn:archive", { name: "util:put_away" });
    return lookup(ada, "util:of_ada");
  };

  test.each(ATTEMPTS)("cannot be changed with %s %j", async (tool, input) => {
    const { ada, bob } = scene();
    const record = await before();
    const answer = await callJson(bob, tool, input);
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(tool === "dns:merge" ? "capability_name_taken" : /capability_foreign.*dns:fork/s);
    expect(await lookup(ada, "util:of_ada")).toEqual(record);
    expect((await callJson(ada, "dns:lookup", { name: "util:put_away" })).text).toContain("archived");
  });

  test("gets no version by a run, and the refusal comes before anything runs", async () => {
    const { ada, bob } = scene();
    const record = await before();
    const answer = await execute(bob, { name: "util:of_ada", on_conflict: "version", code: "return 'mine now'" });
    expect(answer.error).toMatchObject({
      code: "capability_foreign",
      hint: expect.stringContaining("dns:fork") as string,
    });
    expect(await lookup(ada, "util:of_ada")).toEqual(record);
  });

  test("gets counts from a run of the same program, and no words", async () => {
    const { ada, bob } = scene();
    const record = await before();
    const words = { description: "Bob's words", tags: ["bob"], visibility: "private" };
    await execute(bob, { code: CODE, intent: "bob's intent", ...words });
    await execute(bob, { name: "util:of_ada", code: CODE, ...words });
    await callJson(bob, "learn:save", { name: "util:of_ada", code: CODE, ...words });
    const after = await lookup(ada, "util:of_ada");
    expect(after).toEqual({
      ...record,
      usage_count: record.usage_count + 2,
      avg_latency_ms: expect.any(Number) as number,
    });
  });

  test("is changed by its author, an admin and the owner; everybody else has a copy", async () => {
    const { ada, bob, admin, owner } = scene();
    await before();
    for (const by of [ada, admin, owner]) {
      expect((await callJson(by, "dns:tag", { name: "util:of_ada", tags: ["by"] })).isError).toBe(false);
    }
    const version = { name: "util:of_ada", on_conflict: "version", code: "return 'by an admin'" };
    expect(await execute(admin, version)).toMatchObject({ status: "success", capabilityName: "util:of_ada" });
    const copy = await callJson<Brief>(bob, "dns:fork", { source: "util:of_ada", name: "util:of_bob" });
    expect(copy.value).toMatchObject({ display_name: "util:of_bob" });
    expect((await callJson(bob, "dns:update", { name: "util:of_bob", code: "return 'bob'" })).isError).toBe(false);
    expect((await callJson(ada, "dns:update", { name: "util:of_bob", code: "return 'ada'" })).isError).toBe(true);
  });

  test("keeps the decision about its name", async () => {
    const { ada, bob } = scene();
    await before();
    const { value } = await callJson<{ failed: unknown[] }>(bob, "learn:curate", {
      strategy: "apply",
      renames: [{ id: "util:of_ada", name: "util:of_bob_now" }],
      rejects: ["util:of_ada"],
    });
    expect(value.failed).toMatchObject([{ code: "capability_foreign" }, { code: "capability_foreign" }]);
    expect((await lookup(ada, "util:of_ada")).display_name).toBe("util:of_ada");
  });
});

const say = async (by: Client, success: boolean): Promise<Brief> =>
  (await callJson<Brief>(by, "learn:feedback", { name: "util:praised", success, latency_ms: 5 })).value;

test("M9: one principal's verdicts count once, and an author's praise of its own not at all", async () => {
  const { ada, bob } = scene();
  await execute(ada, { name: "util:praised", visibility: "project", code: "return 'praise'" });
  for (let each = 0; each < 20; each += 1) await say(ada, true);
  expect(await lookup(ada, "util:praised")).toMatchObject({ usage_count: 1, success_rate: 1 });
  for (let each = 0; each < 20; each += 1) await say(bob, false);
  expect(await lookup(ada, "util:praised")).toMatchObject({ usage_count: 2, success_rate: 0.5 });
  expect(await say(bob, true)).toMatchObject({ usage_count: 2, success_rate: 1 });
  expect(await say(bob, false)).toMatchObject({ usage_count: 2, success_rate: 0.5 });
});

test("M1: a suggestion fills arguments from the caller's own runs, never with values of others", async () => {
  const { ada, bob, owner } = scene();
  const intent = "recall the tide of the estuary";
  const code = "return [await mcp.counting.read({ key: args.key }), 'tide']";
  for (let round = 0; round < 2; round += 1)
    await execute(ada, { name: "db:tide", visibility: "project", intent, code, args: { key: "canary-tide" } });
  const argsFor = async (by: Client): Promise<unknown> => {
    const { suggestions } = await execute(by, { intent, options: { detail: "full" } });
    return suggestions.capabilities.find(({ name }) => name === "db:tide")?.call.args;
  };
  expect(await argsFor(ada)).toEqual({ key: "canary-tide" });
  for (const other of [bob, owner]) expect(await argsFor(other)).toEqual({});
});

test("M9: no flood of praise makes a capability run unasked whose runs failed", async () => {
  const { owner } = scene();
  const code = 'if (args.broken) throw new Error("broken"); return "brewed";';
  const intent = "brew coffee";
  for (const broken of [false, true, true, true]) {
    await execute(owner, { name: "util:brew", intent, code, args: { broken } });
  }
  for (let each = 0; each < 30; each += 1)
    await callJson(owner, "learn:feedback", { name: "util:brew", success: true });
  const answer = await execute(owner, { intent, context: { broken: false } });
  expect(answer).toMatchObject({ status: "suggestions", reason: expect.stringContaining("only 1 of its 4") as string });
});

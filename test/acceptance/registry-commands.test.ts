import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { execute } from "../support/execute.ts";
import type { GatewayHome } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { startNamesGateway } from "../support/names-scene.ts";
import { type RunResult, runJson, runPml } from "../support/pml.ts";

let home: GatewayHome;
beforeAll(async () => {
  home = await startNamesGateway();
  await using connected = await connectClient(home.path, { transport: "http", era: "auto" });
  await execute(connected.client, {
    name: "util:count",
    code: "return (await mcp.counting.list({ length: 2 })).items",
  });
  await execute(connected.client, {
    name: "util:sum",
    code: "return (args.items ?? []).length",
    description: "How many",
  });
});
afterAll(() => home[Symbol.asyncDispose]());

const pml = (...args: string[]): Promise<RunResult> => runPml(args, { home: home.path });
const json = <T>(...args: string[]): Promise<T> => runJson<T>(args, { home: home.path });

test("list, show, code, lookup and whois tell what is behind names, as text and as JSON", async () => {
  const { stdout } = await pml("list");
  expect(stdout.split("\n").map((line) => line.split("\t").slice(0, 4))).toEqual([
    ["util:count", "pending", "1", "100 %"],
    ["util:sum", "pending", "1", "100 %"],
    [""],
  ]);
  expect(await json<unknown[]>("list", "util:c*")).toMatchObject([{ display_name: "util:count" }]);
  expect((await pml("show", "util:count")).stdout).toMatch(/tools\tcounting:list[^]*n1 {2}task {2}counting:list/);
  expect((await pml("code", "util:sum")).stdout).toBe("return (args.items ?? []).length\n");
  const { fqdn } = await json<{ fqdn: string }>("lookup", "util:count");
  expect(fqdn).toMatch(/^local\.default\.util\.count\.[0-9a-f]{4}$/);
  expect(await json("whois", fqdn)).toMatchObject({ display_name: "util:count", created_by: "test-client" });
  const unknown = await pml("lookup", "util:cuont");
  expect([unknown.code, unknown.stderr]).toEqual([EXIT.notFound, expect.stringContaining("Did you mean util:count?")]);
  expect(JSON.parse((await pml("whois", "nothing:here", "--json")).stdout)).toMatchObject({
    ok: false,
    error: { code: "capability_not_found" },
  });
  const offered = await pml("complete", "--", "show", "util:c");
  expect(offered.stdout).toContain("util:count");
});

test("a new version shows in history and diff with what it breaks, and restore brings the old one back", async () => {
  const file = join(home.path, "count.ts");
  writeFileSync(file, "return (await mcp.counting.list({ length: args.size })).items");
  const naming = ["--name", "util:count", "--on-conflict", "version", "--version-tag", "2.0.0"];
  const made = await json("exec", file, ...naming, "--args-json", `{"size":1}`);
  expect(made).toMatchObject({ status: "success" });
  expect(await json<unknown[]>("history", "util:count")).toMatchObject([
    { version: 2, version_tag: "v2.0.0", diff: { breaking: true } },
    { version: 1, diff: null },
  ]);
  const { stdout, stderr } = await pml("diff", "util:count");
  expect(stdout).toContain(`! "size" is new and required: calls without it are refused`);
  expect(stdout).toContain("-return (await mcp.counting.list({ length: args.length ?? 2 })).items");
  expect(stderr).toContain("version 1 → 2");
  expect(await json("diff", "util:count", "2", "1")).toMatchObject({ from: 2, to: 1, diff: { breaking: true } });
  const restored = await pml("restore", "util:count", "1");
  expect([restored.stdout, restored.stderr]).toEqual([
    "util:count is version 3, with the source of version 1\n",
    "Undo: pml restore util:count 2\n",
  ]);
});

test("names, tags, copies and pipelines can be made and undone", async () => {
  expect((await pml("rename", "util:sum", "util:total")).stdout).toBe("util:sum → util:total\n");
  const aliases = await json<string[]>("alias", "ls", "util:total");
  expect(aliases[0]).toBe("util:sum");
  expect((await pml("alias", "add", "util:total", "util:all")).stdout).toBe("util:all leads to util:total\n");
  expect((await pml("lookup", "util:all")).stderr).toContain(`Using deprecated alias "util:all" → "util:total"`);
  await pml("alias", "retire", "util:total", "util:all");
  expect((await pml("lookup", "util:all")).code).toBe(EXIT.notFound);
  expect(await json("tag", "util:total", "+a", "b")).toMatchObject({ tags: ["a", "b"] });
  expect(await json("tag", "util:total", "--remove", "a", "--routing", "local")).toMatchObject({
    tags: ["b"],
    routing: "local",
  });
  expect((await pml("tag", "util:total")).code).toBe(EXIT.usage);
  const fork = await json<{ forked_from: string }>("fork", "util:total", "util:copy");
  expect(fork.forked_from).toMatch(/^local\.default\.util\.total\./);
  expect((await pml("merge", "util:count", "util:total", "--as", "util:both")).stdout).toContain("util:both calls");
  expect((await pml("archive", "util:copy")).stdout).toBe("Archived util:copy\n");
  expect(await json<unknown[]>("list", "--archived")).toMatchObject([{ display_name: "util:copy" }]);
  expect((await pml("restore", "util:copy")).stdout).toBe("Restored util:copy\n");
  expect(await json("stats", "--since", "24h")).toMatchObject({ days: 1 });
});

test("exec gives a program numbers where it wants them, by its tools' schemas too, and leaves other text alone", async () => {
  const file = join(home.path, "arguments.ts");
  writeFileSync(
    file,
    "const { items } = await mcp.counting.list({ length: args.length }); return [items.length, args.zip]",
  );
  const made = await json("exec", file, "--arg", "length=3", "zip=01234");
  expect(made).toMatchObject({ status: "success", result: [3, "01234"] });
  const wrong = await pml("exec", file, "--arg", "length=three", "zip=01234");
  expect([wrong.code, wrong.stderr]).toEqual([EXIT.toolError, expect.stringContaining("expected number")]);
  writeFileSync(file, "return args.length +");
  expect((await pml("exec", file, "--arg", "length=3")).stderr).toContain("line 1");
});

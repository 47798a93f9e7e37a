import { describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { callJson, shareNamesGateway } from "../support/names-scene.ts";
import { runPml } from "../support/pml.ts";

const scene = shareNamesGateway();

async function nameProgram(name: string, code: string, args: Record<string, unknown>): Promise<void> {
  const made = await execute(scene.client, { name, code, args });
  if (made.status !== "success") throw new Error(JSON.stringify(made));
}

const PUT = `await mcp.counting.put({ key: args.key }); return { put: args.key, note: args.note ?? "none" }`;

describe("arguments that a capability does not have or lacks", () => {
  test("are refused before anything runs, with the closest and all expected ones, however it is called", async () => {
    await nameProgram("store:put_key", PUT, { key: "first" });
    await nameProgram("store:put_twice", `return await capabilities.store.put_key(args)`, { key: "nested" });
    const before = scene.home.calls().length;
    const expected =
      /store:put_key has no argument "nota" \(closest: "note"\)\. It takes key \(.*string.*, required\), note \(string\)/;

    const byTool = await callJson(scene.client, "cap:store:put_key", { key: "a", nota: "b" });
    expect([byTool.isError, byTool.text]).toEqual([true, expect.stringMatching(expected)]);
    const byName = await execute(scene.client, { capability: "store:put_key", args: { key: "a", nota: "b" } });
    expect(byName.error).toMatchObject({ code: "arguments_invalid", message: expect.stringMatching(expected) });
    const nested = await execute(scene.client, { capability: "store:put_twice", args: { key: "a", nota: "b" } });
    expect(nested.error?.message).toMatch(expected);
    const byCommand = await runPml(["run", "store:put_key", "--arg", "key=a", "--arg", "nota=b"], {
      home: scene.home.path,
    });
    expect(byCommand.code).not.toBe(0);
    expect(byCommand.stderr).toMatch(expected);
    const missing = await execute(scene.client, { capability: "store:put_key", args: { ky: "a" } });
    expect(missing.error?.message).toMatch(/no argument "ky" \(closest: "key"\)\. args\.key is missing/);
    expect(scene.home.calls()).toHaveLength(before);
    expect(
      (await execute(scene.client, { capability: "store:put_key", args: { key: "a", note: "b" } })).result,
    ).toEqual({ put: "a", note: "b" });
  });

  test("are refused for a DAG by name, and for a program that takes none", async () => {
    const tasks = [{ id: "put", tool: "counting:put", arguments: { key: { $ref: "args.key" } } }];
    const made = await execute(scene.client, { name: "store:dag_put", dag: { tasks }, args: { key: "one" } });
    expect(made.status).toBe("success");
    const refused = await execute(scene.client, { capability: "store:dag_put", args: { key: "a", kye: "b" } });
    expect(refused.error?.message).toContain('no argument "kye" (closest: "key")');
    await nameProgram("util:nothing", "return 7", {});
    const none = await callJson(scene.client, "cap:util:nothing", { a: 1 });
    expect([none.isError, none.text]).toEqual([true, 'util:nothing has no argument "a". It takes no arguments']);
    const { tools } = await scene.client.listTools();
    expect(tools.find(({ name }) => name === "cap__util__nothing")?.inputSchema).toMatchObject({
      additionalProperties: false,
    });
  });

  test("are a warning for a program that is sent with them", async () => {
    const answer = await execute(scene.client, { code: "return args.length + 1", args: { length: 1, lenght: 2 } });
    expect(answer).toMatchObject({ status: "success", result: 2 });
    expect(answer.warnings).toContainEqual(
      'The program uses no argument "lenght" (closest: "length"). It takes length (number, required).',
    );
  });

  test("are taken where the program uses args as a whole", async () => {
    for (const [name, code] of [
      ["any:keys", "return Object.keys(args).length"],
      ["any:rest", "const { a, ...others } = args; return 1 + Object.keys(others).length"],
      ["any:computed", "let n = 0; for (const k of ['a', 'b']) if (args[k]) n++; return n"],
    ] as const) {
      await nameProgram(name, code, { a: 1 });
      expect((await callJson(scene.client, `cap:${name}`, { a: 1, b: 2 })).value).toBe(2);
    }
  });
});

describe("inference refuses nothing that the program handles", () => {
  test.each<[string, string, Record<string, unknown>, Record<string, unknown>, unknown]>([
    [
      "index",
      "return args.status[0].toUpperCase() + args.status.slice(1)",
      { status: "x" },
      { status: "open" },
      "Open",
    ],
    ["characters", `return [...args.word].reverse().join("")`, { word: "x" }, { word: "abc" }, "cba"],
    ["loop", "let n = 0; for (const c of args.word) n++; return n", { word: ["x"] }, { word: "abc" }, 3],
    ["order", "return args.from < args.to", { from: 1, to: 2 }, { from: "2026-01", to: "2026-02" }, true],
    ["several", "return Array.isArray(args.ids) ? args.ids.length : 1", { ids: ["x"] }, { ids: "one" }, 1],
    ["sentinel", `const n = args.n ?? "all"; return n === "all" ? 0 : n`, {}, { n: 5 }, 5],
    ["branch", `return args.kind === "a" ? args.a : args.b`, { kind: "a", a: 1, b: 2 }, { kind: "b", b: 2 }, 2],
    ["variable", "let n = args.n; if (n === undefined) n = 9; return n", { n: 1 }, {}, 9],
    ["null", `return args.note ?? "none"`, {}, { note: null }, "none"],
    ["early", "if (args.dry) return 0; return args.id.length", { id: "x" }, { dry: true }, 0],
  ])("%s", async (name, code, first, then, result) => {
    await nameProgram(`infer:${name}`, code, first);
    const answer = await execute(scene.client, { capability: `infer:${name}`, args: then });
    expect(answer).toMatchObject({ status: "success", result });
  });

  test("types come from the tools that parameters flow into, also by a variable", async () => {
    const code = `const input = { length: args.size }; const size = args.other ?? 2;
      await mcp.counting.list({ length: size }); return (await mcp.counting.list(input)).items.length`;
    await nameProgram("flow:list", code, { size: 2 });
    const { value } = await callJson(scene.client, "dns:lookup", { name: "flow:list" });
    expect(value).toMatchObject({
      parameters_schema: { properties: { size: { type: "number" }, other: { type: "number", default: 2 } } },
    });
  });
});

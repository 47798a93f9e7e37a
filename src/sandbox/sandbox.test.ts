import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  answerLikeTools,
  defaultLimits,
  openSandbox,
  recordingHost,
  runProgram,
  STARTED_AT,
} from "../../test/support/sandbox.ts";
import { loadConfig } from "../config/load-config.ts";
import type { RunLimits, RunOutcome } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";
import type { ProcessSandbox } from "./sandbox.ts";

const limited = (limits: Partial<RunLimits>): { limits: RunLimits } => ({ limits: { ...defaultLimits, ...limits } });

it("the configuration has a key for every limit and option of the sandbox", async () => {
  const { sandbox: values } = loadConfig({}, { PML_HOME: tmpdir() });
  await using sandbox = openSandbox({ ...values, launcher: "plain", idleChildren: 0 });
  expect(await runProgram(sandbox, "return 1", { limits: values })).toMatchObject({ kind: "returned", value: 1 });
  expect(Object.keys(values)).toEqual(expect.arrayContaining(Object.keys(defaultLimits)));
});

describe.each(["isolated-vm", "quickjs"] as const)("programs on %s", (engine) => {
  let sandbox: ProcessSandbox;
  beforeAll(() => {
    sandbox = openSandbox({ engine });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  const run = (body: string, changes?: Parameters<typeof runProgram>[2]): Promise<RunOutcome> =>
    runProgram(sandbox, body, changes);
  const valueOf = async (body: string, changes?: Parameters<typeof runProgram>[2]): Promise<JsonValue> => {
    const outcome = await run(body, changes);
    if (outcome.kind !== "returned") throw new Error(`did not return: ${JSON.stringify(outcome)}`);
    return outcome.value;
  };

  it("receive their arguments and return their value with figures", async () => {
    const outcome = await run("return { got: args, nothing: undefined }", { args: { a: [1, "ü"] } });
    expect(outcome).toMatchObject({ kind: "returned", value: { got: { a: [1, "ü"] } }, warnings: [] });
    expect(outcome.stats.heapBytes).toBeGreaterThan(0);
    expect(outcome.stats.calls).toBe(0);
    expect(await valueOf("")).toBeNull();
  });

  it("call tools and capabilities, whose names stay apart", async () => {
    const host = recordingHost();
    await run(
      `await mcp["a.b"]["c:d"]({ n: 1 }); await mcp.x.y(); await capabilities.fs.read_json({ p: 2 });
       await capabilities.my_reader().catch(() => 0); await capabilities["fs:other"]().catch(() => 0)`,
      {
        host: {
          ...host,
          call: (call) => host.call(call).then((answer) => ({ clock: answer.clock, ok: true, value: 1 })),
        },
      },
    );
    expect(host.calls).toMatchObject([
      { kind: "tool", id: 1, server: "a.b", tool: "c:d", args: { n: 1 }, node: undefined, loop: "" },
      { kind: "tool", id: 2, server: "x", tool: "y", args: {} },
      { kind: "capability", id: 3, name: "fs:read_json", args: { p: 2 } },
      { kind: "capability", id: 4, name: "my_reader" },
      { kind: "capability", id: 5, name: "fs:other" },
    ]);
  });

  it("catch the error of a failing tool, with name, message, code and data", async () => {
    const caught = await valueOf(
      "try { await mcp.t.fail({}) } catch (e) { return [e instanceof Error, e.name, e.message, e.code, e.data] }",
    );
    expect(caught).toEqual([true, "ToolError", "fail failed", "tool_failed", { tool: "fail" }]);
  });

  it("report the position of an error, also of one that a tool made", async () => {
    expect(await run("\n  const a = null;\n  a.b;")).toMatchObject({
      kind: "threw",
      error: { name: "TypeError" },
      at: { line: 4 },
    });
    expect(await run("await 1;\n\nawait mcp.t.fail({})")).toMatchObject({
      kind: "threw",
      error: { name: "ToolError", message: "fail failed", code: "tool_failed", data: { tool: "fail" } },
      at: { line: 4 },
    });
    expect(await run("await 1;\nconst x = ;")).toMatchObject({
      error: { name: "SyntaxError" },
      at: { line: 3, column: 11 },
    });
  });

  it("report nodes, loops and decisions in execution order", async () => {
    const host = recordingHost();
    const body = `
      for (const item of [1, 2]) {
        const path = __pml.loop("l1", "");
        if (__pml.decide("d1", path, item === 2)) {
          for (let i = 0; i < 2; i++) {
            const inner = __pml.loop("l2", path);
            await __pml.call("n1", inner, mcp.t.x)({ item, i });
          }
        }
      }
      const read = mcp.t.x;
      await __pml.call("n2", "", read)({});
      await __pml.call("n3", "", sleep)(0);
      const own = __pml.call("n4", "", (x) => x + 1)(1);
      if (__pml.call("n5", "", undefined)?.() !== undefined) return "not skipped";
      return [own, __pml.nullish("d2", "", null) ?? "right", __pml.nullish("d2", "", 0) ?? "right", __pml.took("d3", "", "case \\"a\\"")]`;
    expect(await valueOf(body, { host })).toEqual([2, "right", 0, null]);
    expect(host.calls.map(({ node, loop }) => [node, loop])).toEqual([
      ["n1", "l1:1/l2:0"],
      ["n1", "l1:1/l2:1"],
      ["n2", ""],
      ["n3", ""],
    ]);
    expect(host.decisions).toEqual(["d1 l1:0 false", "d1 l1:1 true", "d2  true", "d2  false", 'd3  case "a"']);
  });

  it("repeat exactly with the same seed", async () => {
    const body = "return [Math.random(), crypto.randomUUID(), new Date().toISOString(), Date(), performance.now()]";
    const first = await valueOf(body, { seed: 7 });
    expect(await valueOf(body, { seed: 7 })).toEqual(first);
    expect(await valueOf(body, { seed: 8 })).not.toEqual(first);
    expect(first).toMatchObject({ 2: "2026-01-02T03:04:05.000Z", 4: 0 });
    expect(String((first as string[])[1])).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it("have a clock that advances with the answers", async () => {
    const value = await valueOf(
      "const a = Date.now(); await mcp.t.x({}); const b = Date.now(); await sleep(1); return [a, b, Date.now()]",
    );
    expect(value).toEqual([STARTED_AT, STARTED_AT + 1, STARTED_AT + 2]);
  });

  it("receive answers one at a time, also when several arrive together", async () => {
    const answers: (() => void)[] = [];
    const host = recordingHost(async (call) => {
      await new Promise<void>((resolve) => {
        answers.push(resolve);
        // Resolves all of them in one turn, so that they travel in one chunk.
        if (answers.length === 3) for (const answer of answers) answer();
      });
      return await answerLikeTools(call);
    });
    // After each answer its continuation runs to the end, however many steps it has.
    const body = `const seen = [];
      const one = async (n) => { await mcp.t.x({ n }); seen.push(n + "a"); for (let i = 0; i < 20; i++) await null; seen.push(n + "b"); };
      await Promise.all([one(1), one(2), one(3)]); return seen`;
    expect(await valueOf(body, { host })).toEqual(["1a", "1b", "2a", "2b", "3a", "3b"]);
  });

  it("can sleep, and clear a timer", async () => {
    const host = recordingHost();
    const body = `const seen = []; setTimeout((a, b) => seen.push(a + b), 5, "x", "y");
      clearTimeout(setTimeout(() => seen.push("never"), 1)); await sleep(20); return seen`;
    expect(await valueOf(body, { host })).toEqual(["xy"]);
    expect(host.calls.map((call) => (call.kind === "sleep" ? call.ms : call.kind))).toEqual([5, 1, 20]);
  });

  it("have the parts of the web platform that agents expect", async () => {
    const body = `const url = new URL("../c?x=1&y=ü#z", "https://user@example.org:8443/a/b");
      url.searchParams.append("q", "a b");
      const controller = new AbortController(); let heard = ""; controller.signal.addEventListener("abort", () => (heard = "yes")); controller.abort();
      return [url.href, [...new URLSearchParams("a=1&b=%20+")], new TextDecoder().decode(new TextEncoder().encode("é€😀")),
        atob(btoa("hello")), structuredClone({ d: new Date(0), m: [...new Map([[1, 2]])] }), heard, controller.signal.reason.name]`;
    expect(await valueOf(body)).toEqual([
      "https://user@example.org:8443/c?x=1&y=%C3%BC&q=a+b#z",
      [
        ["a", "1"],
        ["b", "  "],
      ],
      "é€😀",
      "hello",
      { d: "1970-01-01T00:00:00.000Z", m: [[1, 2]] },
      "yes",
      "AbortError",
    ]);
  });

  it.each([
    ["await fetch('http://x')", "fetch is not defined: there is no network in PML code"],
    // QuickJS does not name a value that is not a function.
    ["globalThis.fetch('http://x')", engine === "quickjs" ? "not a function" : "there is no network in PML code"],
    ["require('fs')", "require is not defined: there are no modules in PML code"],
    ["process.exit()", "process is not defined: there are no files and processes in PML code"],
    ["await import('fs')", "there are no modules in PML code"],
  ])("get a hint at the replacement of %s", async (body, message) => {
    const outcome = await run(body);
    expect(outcome).toMatchObject({ kind: "threw" });
    expect(outcome.kind === "threw" && outcome.error.message).toContain(message);
  });

  it("write to the console until its limit", async () => {
    const host = recordingHost();
    const outcome = await run("for (let i = 0; i < 50; i++) console.warn('line', i, { i }); return 1", {
      host,
      ...limited({ maxLogLines: 3 }),
    });
    expect(host.lines).toEqual(['warn: line 0 {"i":0}', 'warn: line 1 {"i":1}', 'warn: line 2 {"i":2}']);
    expect(outcome).toMatchObject({ kind: "returned" });
    expect(outcome.warnings.join()).toContain("sandbox.maxLogLines");
    const long = await run("console.log('x'.repeat(600)); console.log('y'.repeat(600))", {
      host,
      ...limited({ maxLogBytes: 1_000 }),
    });
    expect(host.lines).toHaveLength(4);
    expect(long.warnings.join()).toContain("sandbox.maxLogBytes");
  });

  it.each([
    ["wallMs", "await new Promise(() => undefined)", 100],
    ["cpuMs", "for (;;);", 100],
    ["memoryMb", "const all = []; for (let i = 0; ; i++) all.push({ i, text: 'x' + i })", 16],
    ["maxCalls", "for (;;) await mcp.t.x({})", 3],
    ["maxDecisions", "for (;;) __pml.decide('d1', '', true)", 10],
    ["maxResultBytes", "return 'ü'.repeat(600)", 1_000],
    ["maxCodeBytes", "return 1", 10],
  ] as const)("end at %s, whose key the message names", async (limit, body, value) => {
    const outcome = await run(body, limited({ [limit]: value }));
    expect(outcome).toMatchObject({ kind: "limit", limit });
    expect(outcome.kind === "limit" && outcome.message).toContain(`(sandbox.${limit})`);
    expect(await valueOf("return 1")).toBe(1);
  });

  it("end when they are nested too deep", async () => {
    expect(await run("return 1", { depth: 3, ...limited({ maxDepth: 2 }) })).toMatchObject({
      kind: "limit",
      limit: "maxDepth",
    });
    expect(await run("return 1", { depth: 2, ...limited({ maxDepth: 2 }) })).toMatchObject({ kind: "returned" });
  });

  it("get an error where arguments or an answer are too large", async () => {
    const told = "try { await mcp.t.x({ s: 'x'.repeat(2000) }) } catch (e) { return [e.name, e.message] }";
    expect(JSON.stringify(await valueOf(told, limited({ maxArgumentBytes: 1_000 })))).toContain(
      "sandbox.maxArgumentBytes",
    );
    const large = { clock: 0, ok: true, value: "x".repeat(20 * 1024 * 1024) } as const;
    const body = "try { await mcp.t.x({}) } catch (e) { return [e.name, e.code, e.message] }";
    const value = await valueOf(body, { host: recordingHost(() => Promise.resolve(large)) });
    expect(value).toMatchObject({ 0: "RangeError", 1: "limit_exceeded" });
    expect(JSON.stringify(value)).toContain("sandbox.maxToolResultBytes");
  });

  it("take a large answer that is within the limit", async () => {
    const host = recordingHost(() => Promise.resolve({ clock: 0, ok: true, value: "ü".repeat(1_500_000) }));
    expect(await valueOf("return (await mcp.t.x({})).length", { host })).toBe(1_500_000);
  });

  it("queue calls above maxParallelCalls", async () => {
    let underWay = 0;
    let most = 0;
    const host = recordingHost(async (call) => {
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return { clock: 0, ok: true, value: call.id };
    });
    const body = "return await Promise.all(Array.from({ length: 10 }, (_, n) => mcp.t.x({ n })))";
    expect(await valueOf(body, { host, ...limited({ maxParallelCalls: 3 }) })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(most).toBe(3);
  });

  it("warn of unhandled rejections and still return", async () => {
    const outcome = await run("Promise.reject(new Error('lost')); return 1");
    expect(outcome).toMatchObject({ kind: "returned", value: 1 });
    expect(outcome.warnings.join()).toContain("Unhandled promise rejection");
  });

  it("are refused if they are not functions", async () => {
    expect(await run("", { code: "42" })).toMatchObject({
      kind: "threw",
      error: { message: "the program is not a function" },
    });
  });

  it("fail with the host's error when the host fails", async () => {
    const host = {
      ...recordingHost(),
      decided: () => {
        throw new Error("journal is full");
      },
    };
    await expect(run("__pml.took('d1', '', 'a'); await sleep(1000)", { host })).rejects.toThrow("journal is full");
    const rejecting = { ...recordingHost(), call: () => Promise.reject(new Error("no database")) };
    await expect(run("await mcp.t.x({})", { host: rejecting })).rejects.toThrow("no database");
  });
});

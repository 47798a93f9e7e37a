/** Programs that replace built-ins or look for a way out, through the real gateway, on both engines. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { servers } from "../support/upstream-servers.ts";

const FAIL = `await mcp.counting.fail({ key: "a" })`;

/** Each replaces something that the handling of a failed call might use; the call must still fail, at once. */
const POISONS: Readonly<Record<string, string>> = {
  "Error.prepareStackTrace": `Error.prepareStackTrace = () => ({ not: "text" });`,
  "a throwing prepareStackTrace": `Error.prepareStackTrace = () => { throw new Error("mine"); };`,
  "a prepareStackTrace of call sites": `Error.prepareStackTrace = (_error, sites) => sites;`,
  "String.prototype.replace": `String.prototype.replace = () => { throw new Error("mine"); };`,
  "RegExp.prototype.exec": `RegExp.prototype.exec = () => { throw new Error("mine"); };`,
  "the global Error": `globalThis.Error = function () { throw 1; };`,
  "a setter for names": `Object.defineProperty(Error.prototype, "name", { set() { throw 1; }, get: () => "x" });`,
  "setters for codes": `for (const key of ["code", "data", "stack", "name"])
    Object.defineProperty(Object.prototype, key, { set() { throw 1; }, get() { throw 2; }, configurable: true });`,
  "get of all objects": `Object.prototype.get = () => 1; Object.prototype.set = () => 1;`,
  "value of all objects": `Object.prototype.value = 1; Object.prototype.writable = false;`,
  "Promise.prototype.then": `Promise.prototype.then = () => { throw 1; };`,
  "Promise[Symbol.species]": `Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } });`,
  "Promise.prototype.constructor": `Object.defineProperty(Promise.prototype, "constructor", { get() { throw 1; } });`,
  "Array.prototype.push and join": `Array.prototype.push = Array.prototype.join = () => { throw 1; };`,
  "the iterator of arrays": `Array.prototype[Symbol.iterator] = () => { throw 1; };`,
  "indexes of arrays": `for (let at = 0; at < 12; at += 1)
    Object.defineProperty(Array.prototype, at, { set() { throw 1; }, get: () => 3, configurable: true });`,
  JSON: `JSON.parse = JSON.stringify = () => { throw 1; };`,
  Reflect: `Reflect.apply = Reflect.defineProperty = () => { throw 1; };`,
  "Function.prototype.call": `Function.prototype.call = Function.prototype.apply = () => { throw 1; };`,
  "Map.prototype": `Map.prototype.get = Map.prototype.delete = () => { throw 1; };`,
  "Error.stackTraceLimit": `Error.stackTraceLimit = 0;`,
  "Object.getOwnPropertyDescriptor": `Object.getOwnPropertyDescriptor = () => { throw 1; };`,
};

/** Each returns what it found; nothing of the process, the machine or the real clock may be there. */
const ESCAPES: Readonly<Record<string, string>> = {
  "Function constructor": `return (() => {}).constructor("return typeof process + typeof require + typeof std + typeof os")();`,
  "async function constructor": `return await (async () => {}).constructor("return typeof process + typeof require + typeof std + typeof os")();`,
  "generator constructor": `return (function* () {}).constructor("yield typeof process + typeof require + typeof std + typeof os")().next().value;`,
  "modules of QuickJS": `const found = []; for (const name of ["std", "os", "bjson", "scriptArgs", "print", "loadScript", "gc", "__loadScript"])
    found.push(typeof globalThis[name]); return [...new Set(found)].join();`,
  "dynamic import": `try { return Object.keys(await eval('import("node:fs")')).length; } catch { return "undefined"; }`,
  "import of std": `try { return Object.keys(await eval('import("std")')).length; } catch { return "undefined"; }`,
  "callee and caller": `function f() { return f.caller === null || f.caller === undefined; } try { return f() ? "undefined" : "found"; } catch { return "undefined"; }`,
  "constructor of an error from outside": `try { ${FAIL} } catch (error) { return error.constructor.constructor("return typeof process + typeof require")(); }`,
  "constructor of a result": `const r = await mcp.counting.read({ key: "x" }); return r.constructor.constructor("return typeof process + typeof require")();`,
  "constructor of a tool": `try { return String(mcp.counting.read.constructor.constructor("return typeof process")()); } catch { return "undefined"; }`,
  "call sites": `Error.prepareStackTrace = (_e, sites) => sites; const sites = new Error("x").stack;
    return Array.isArray(sites) ? sites.map((s) => typeof s.getThis?.() + typeof s.getFunction?.()).every((t) => t === "undefinedundefined") ? "undefined" : "found" : "undefined";`,
  "shared memory": `return typeof SharedArrayBuffer + typeof Atomics + typeof WebAssembly;`,
  "weak references": `return typeof WeakRef + typeof FinalizationRegistry;`,
  "the proxy of tools": `const p = Object.getPrototypeOf(mcp); return p === null ? "undefined" : "found";`,
  "a getter on the global object": `let seen = "undefined"; Object.defineProperty(globalThis, "send", { set(v) { seen = typeof v; }, configurable: true });
    await mcp.counting.read({ key: "x" }); return seen;`,
  "the runtime's own names": `return ["boot", "Channel", "send", "__pml_send", "process", "global", "module", "exports"].map((name) => typeof globalThis[name]).every((t) => t === "undefined") ? "undefined" : "found";`,
};

describe.each(["isolated-vm", "quickjs"])("on %s", (engine) => {
  let home: GatewayHome;
  let connected: TestClient;
  beforeAll(async () => {
    const work = await makeFolder();
    writeFileSync(join(work.path, "calls.txt"), "");
    home = await startGateway(
      { counting: servers.counting(join(work.path, "calls.txt")) },
      { config: { sandbox: { engine, wallMs: 20_000 }, permissions: { allow: ["counting:*"] } } },
    );
    await home.ready("counting");
    connected = await connectClient(home.path);
  });
  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test.each(Object.entries(POISONS))("L8: a failed call ends a program that replaces %s", async (name, poison) => {
    const uncaught = await execute(connected.client, { code: `${poison}\n${FAIL}; return "went on";` });
    expect([name, uncaught.error?.code]).toEqual([name, expect.not.stringMatching("limit_exceeded|sandbox_crashed")]);
    expect(uncaught.isError).toBe(true);
    const code = `${poison}\ntry { ${FAIL}; return "went on"; } catch { return "caught"; }`;
    const { result, error } = await execute(connected.client, { code });
    // QuickJS ends an async function whose `await` meets such a constructor
    const ends = engine === "quickjs" && name === "Promise.prototype.constructor" ? "program_error" : "caught";
    expect([name, result ?? error?.code]).toEqual([name, ends]);
  });

  test.each(Object.entries(ESCAPES))("nothing is found by %s", async (name, code) => {
    const { result, error } = await execute(connected.client, { code });
    const found = JSON.stringify(result ?? "undefined").replaceAll("undefined", "");
    expect([name, found]).toEqual([name, '""']);
    expect(error?.code ?? "program_error").toMatch(/^(program_error|program_refused|syntax_error|code_refused)/);
  });

  test("and the next program is as if nothing had happened", async () => {
    const code = `return [JSON.stringify({ a: 1 }), typeof Map.prototype.get, ({}).get === undefined, (await mcp.counting.read({ key: "x" })).count > 0];`;
    expect((await execute(connected.client, { code })).result).toEqual(['{"a":1}', "function", true, true]);
  });
});

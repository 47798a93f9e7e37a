import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/pml.ts";
import {
  defaultLimits,
  isAlive,
  openSandbox,
  programOf,
  recordingHost,
  runProgram,
} from "../../test/support/sandbox.ts";
import type { CallAnswer, RunOutcome } from "../execution/worker-bridge.ts";
import { createLogger } from "../base/log.ts";
import { Pool } from "./pool.ts";
import { ProgramRun } from "./program-run.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const folder = mkdtempSync(join(tmpdir(), "pml-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("Pool, ending a run", () => {
  it("aborts by a signal at every stage", async () => {
    await using sandbox = openSandbox({ maxChildren: 1 });
    const reason = new Error("enough");
    const aborted = { kind: "aborted", reason };
    expect(await runProgram(sandbox, "return 1", { signal: AbortSignal.abort(reason) })).toMatchObject(aborted);

    const whileStarting = new AbortController();
    const starting = runProgram(sandbox, "return 1", { signal: whileStarting.signal });
    whileStarting.abort(reason);
    expect(await starting).toMatchObject(aborted);

    const computing = new AbortController();
    const host = { ...recordingHost(), logged: () => computing.abort(reason) };
    const queued = new AbortController();
    const first = runProgram(sandbox, "console.log(1); await sleep(0); for (;;);", { host, signal: computing.signal });
    const second = runProgram(sandbox, "return 1", { signal: queued.signal });
    queued.abort(reason);
    expect(await second).toMatchObject(aborted);
    expect(await first).toMatchObject(aborted);

    const waiting = new AbortController();
    const asked = { ...recordingHost(), call: () => (waiting.abort(reason), new Promise<never>(() => undefined)) };
    expect(await runProgram(sandbox, "await mcp.t.x({})", { host: asked, signal: waiting.signal })).toMatchObject(
      aborted,
    );
    expect(await runProgram(sandbox, "return 2")).toMatchObject({ kind: "returned", value: 2 });
  });

  it("ignores answers that arrive too late", async () => {
    await using sandbox = openSandbox();
    const late = Promise.withResolvers<CallAnswer>();
    const host = recordingHost(() => late.promise);
    expect(await runProgram(sandbox, "void mcp.t.x({}); return 1", { host })).toMatchObject({ value: 1 });
    const next = runProgram(sandbox, "return await mcp.t.x({ n: 2 })");
    late.resolve({ clock: 0, ok: true, value: "late" });
    expect(await next).toMatchObject({ kind: "returned", value: { n: 2 } });
  });

  it("replaces a child that was killed from outside", async () => {
    await using sandbox = openSandbox({ idleChildren: 0 });
    const host = { ...recordingHost(), logged: () => sandbox.pids.forEach((pid) => process.kill(pid, "SIGKILL")) };
    const outcome = await runProgram(sandbox, "console.log('here'); for (;;);", { host });
    expect(outcome).toMatchObject({ kind: "crashed" });
    expect(outcome.kind === "crashed" && outcome.message).toContain("SIGKILL");
    expect(await runProgram(sandbox, "return 1")).toMatchObject({ value: 1 });
  });

  it("leaves no process behind when the sandbox is closed", async () => {
    const sandbox = openSandbox({ idleChildren: 2 });
    const running = [1, 2, 3].map(() => runProgram(sandbox, "await mcp.t.never({})"));
    await until("children are there", () => sandbox.pids.length >= 2);
    const pids = [...sandbox.pids];
    await sandbox[Symbol.asyncDispose]();
    expect(pids.filter(isAlive)).toEqual([]);
    for (const outcome of await Promise.all(running)) expect(outcome.kind).toBe("aborted");
    expect((await runProgram(sandbox, "return 1")).kind).toBe("aborted");
  });
});

describe("Pool", () => {
  it("never makes a nested run wait for a slot that its ancestors hold", async () => {
    await using sandbox = openSandbox({ maxChildren: 1, idleChildren: 0 });
    const nest = async (depth: number): Promise<RunOutcome> => {
      const host = recordingHost(async () => {
        const inner = await nest(depth + 1);
        return { clock: 0, ok: true, value: inner.kind === "returned" ? inner.value : inner.kind };
      });
      const body = depth === 4 ? "return 'deepest'" : "return await capabilities.next({})";
      return await runProgram(sandbox, body, { host, depth });
    };
    const outcomes = await Promise.all([nest(0), nest(0), nest(0)]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: "returned", value: "deepest" });
  });

  it("runs more programs at once than there are children", async () => {
    await using sandbox = openSandbox({ maxChildren: 3, idleChildren: 1 });
    const runs = Array.from({ length: 40 }, (_, n) => runProgram(sandbox, `await mcp.t.x({}); return ${n}`));
    const values = (await Promise.all(runs)).map((outcome) => outcome.kind === "returned" && outcome.value);
    expect(values).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(sandbox.pids.length).toBeLessThanOrEqual(3);
  });

  it("does not let a computing program delay the others", async () => {
    await using sandbox = openSandbox({ maxChildren: 4 });
    const limits = { ...defaultLimits, cpuMs: 1_500, wallMs: 60_000 };
    const hog = runProgram(sandbox, "for (;;);", { limits });
    let hogEnded = false;
    void hog.then(() => (hogEnded = true));
    for (let n = 0; n < 5; n += 1) expect(await runProgram(sandbox, `return ${n}`)).toMatchObject({ value: n });
    expect(hogEnded).toBe(false);
    expect(await hog).toMatchObject({ kind: "limit", limit: "cpuMs" });
  });

  it("stops starting children after repeated failures, and reports the reason", async () => {
    await using pool = fakePool("process.stderr.write('Error: no such engine\\n'); process.exit(3)");
    await expect(submit(pool)).rejects.toMatchObject({ code: "sandbox_unavailable" });
    await expect(submit(pool)).rejects.toThrow("no such engine");
    expect(pool.pids).toEqual([]);
  });

  it("hands a run that never began to another child", async () => {
    const marker = join(folder, "second");
    // The first child takes the program and exits; the next one runs it.
    const body = `await ready(); await frame();
      if (!fs.existsSync(${JSON.stringify(marker)})) { fs.writeFileSync(${JSON.stringify(marker)}, ""); process.exit(1); }
      write("B", ""); write("S", '{"cpuMs":1,"heapBytes":1}'); write("R", "42"); await frame();`;
    await using pool = fakePool(body);
    expect(await submit(pool)).toMatchObject({ kind: "returned", value: 42 });
  });

  it.each([
    ["a frame that is too long", "fs.writeSync(1, Buffer.from([255, 255, 255, 255, 77]))", "broke the protocol"],
    ["an empty frame", "fs.writeSync(1, Buffer.from([0, 0, 0, 0, 77]))", "broke the protocol"],
    ["a type that does not exist", 'write("Z", "")', "broke the protocol"],
    ["messages that are not JSON", 'write("M", "{oops\\n")', "broke the protocol"],
    ["messages of an unknown kind", String.raw`write("M", '["rm",1,null,"","a","b",{}]\n')`, "broke the protocol"],
    [
      "a call with a number out of order",
      String.raw`write("M", '["tool",7,null,"","a","b",{}]\n')`,
      "broke the protocol",
    ],
    ["a name that is not a string", String.raw`write("M", '["tool",1,null,"",{},"b",{}]\n')`, "broke the protocol"],
    ["an endless sleep", String.raw`write("M", '["sleep",1,null,"",1e99]\n')`, "broke the protocol"],
    ["a result that is not JSON", 'write("R", "{")', "broke the protocol"],
    ["a malformed error", 'write("E", "{}")', "broke the protocol"],
    ["a limit it may not report", `write("F", '["wallMs"]')`, "broke the protocol"],
    ["malformed stats", 'write("S", "null")', "broke the protocol"],
    ["nothing and exits", "process.exit(5)", "exited with code 5"],
  ])("ends the run of a child that sends %s", async (_what, misbehave, message) => {
    await using pool = fakePool(`await ready(); await frame(); write("B", ""); ${misbehave}; await frame();`);
    const outcome = await submit(pool);
    expect(outcome).toMatchObject({ kind: "crashed" });
    expect(outcome.kind === "crashed" && outcome.message).toContain(message);
  });

  it("kills a child that sends a frame while it has no run", async () => {
    await using pool = fakePool(
      'await ready(); await new Promise((r) => setTimeout(r, 50)); write("R", "1"); await frame();',
    );
    pool.warm();
    await until("a child is there", () => pool.pids.length > 0);
    const [pid = 0] = pool.pids;
    await until("it is gone", () => !pool.pids.includes(pid));
    expect(isAlive(pid)).toBe(false);
  });
});

describe("Pool's children", () => {
  it("prepare isolates when idle, and run each program in a fresh one", async () => {
    await using sandbox = openSandbox({ maxChildren: 1, idleChildren: 1 });
    const code = "const seen = globalThis.seen ?? 0; globalThis.seen = seen + 1; return seen";
    for (let round = 0; round < 3; round += 1) {
      await pause(150);
      for (let run = 0; run < 6; run += 1) expect(await runProgram(sandbox, code)).toMatchObject({ value: 0 });
    }
    expect(sandbox.pids).toHaveLength(1);
  });

  it("do not outlive a killed gateway, even while they compute", async () => {
    const script = join(folder, "gateway.ts");
    const support = fileURLToPath(new URL("../../test/support/sandbox.ts", import.meta.url));
    // Sorts in a loop: no engine can interrupt that built-in.
    const body = "console.log('computing'); await sleep(0); for (;;) new Array(3e6).fill(0).sort()";
    writeFileSync(
      script,
      `import { openSandbox, recordingHost, runProgram } from ${JSON.stringify(support)};
       const sandbox = openSandbox({ idleChildren: 2 });
       const limits = { ...(await import(${JSON.stringify(support)})).defaultLimits, cpuMs: 600_000, wallMs: 600_000 };
       const host = { ...recordingHost(), logged: () => setTimeout(() => console.log(JSON.stringify(sandbox.pids)), 300) };
       await runProgram(sandbox, ${JSON.stringify(body)}, { limits, host });`,
    );
    const gateway = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(gateway.stdout, "data")) as [Buffer];
    const pids = JSON.parse(line.toString("utf8")) as number[];
    expect(pids.filter(isAlive).length).toBeGreaterThan(0);
    gateway.kill("SIGKILL");
    await until("the children are gone", () => !pids.some(isAlive));
  });
});

/** Creates a pool whose children are scripts of a test. `ready`, `frame` and `write` speak the protocol. */
function fakePool(body: string): Pool {
  const script = join(folder, `fake-${Math.random()}.mjs`);
  writeFileSync(
    script,
    `import fs from "node:fs";
     const write = (type, text) => {
       const bytes = Buffer.alloc(5 + Buffer.byteLength(text));
       bytes.writeUInt32LE(bytes.length - 4, 0); bytes.write(type, 4); bytes.write(text, 5); fs.writeSync(1, bytes);
     };
     const ready = async () => write("K", "");
     const frame = async () => { const some = Buffer.alloc(1 << 20); if (fs.readSync(0, some) === 0) process.exit(0); };
     ${body}`,
  );
  const command = { file: process.execPath, args: [script], env: {}, isWrapped: false };
  return new Pool({ launch: () => Promise.resolve(command), idleChildren: 1, maxChildren: 2, log });
}

function submit(pool: Pool): Promise<RunOutcome> {
  const run = new ProgramRun(programOf("return 1"), recordingHost(), new AbortController().signal);
  pool.submit(run);
  return run.outcome;
}

/**
 * One life of a daemon that runs a program, for the replay case. With a position it kills itself there with SIGKILL;
 * without one it resumes the interrupted run and prints its outcome.
 *
 *     replay-process.ts <home> <program> <intent> <position|0|learn|recover>
 */
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import { createApp } from "../../src/app/app.ts";
import { DEFAULT_SCOPE, OWNER } from "../../src/registry/scope.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { Journal } from "../../src/execution/journal.ts";
import type { RunAnswer } from "../../src/contract/execute.ts";
import { createLogger } from "../../src/base/log.ts";
import { UpstreamServer } from "../../src/upstream/upstream-server.ts";
import { Secrets } from "../../src/secrets/secrets.ts";
import { innerProgram, replayPrograms } from "./replay-programs.ts";

const [home = "", program = "", intent = "", mode = ""] = process.argv.slice(2);

let position = 0;
const last = Number(mode);
const step = (): void => {
  position += 1;
  if (position === last) process.kill(process.pid, "SIGKILL");
};

/** Wraps a method for all objects of a class. */
function replaceMethod<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  around: (original: T[K] & ((...args: never[]) => unknown)) => T[K],
): void {
  const original = prototype[name] as (...args: unknown[]) => unknown;
  prototype[name] = function replaced(this: T, ...args: unknown[]): unknown {
    const bound = original.bind(this) as T[K] & ((...given: never[]) => unknown);
    return (around(bound) as (...given: unknown[]) => unknown)(...args);
  } as T[K];
}

/** Makes every entry, every write and both ends of every call a position. */
function countPositions(): void {
  const journal = Journal.prototype;
  replaceMethod(journal, "append", (append) => (...args) => {
    step();
    return append(...args);
  });
  replaceMethod(journal, "flush", (flush) => async () => {
    await flush();
    step();
  });
  replaceMethod(UpstreamServer.prototype, "request", (request) => async (call) => {
    if (call.method !== "tools/call") return request(call);
    step();
    const result = await request(call);
    step();
    return result;
  });
}

setEngineFlags();
const config = loadConfig({}, { ...process.env, PML_HOME: home });
const log = createLogger({ level: "error", file: undefined, secrets: [] });
using ownership = acquireOwnership(home);
await using app = await createApp({ config, ownership, secrets: new Secrets(), log });
await app.upstreams.findServer("counting")?.connect();
const reach = { caller: { principal: OWNER, client: "torture" }, signal: new AbortController().signal };

async function run(code: string, name?: string): Promise<RunAnswer> {
  const request = { kind: "code", intent, code, args: { prefix: "learned" }, options: {} } as const;
  return app.engine.execute(DEFAULT_SCOPE, name === undefined ? request : { ...request, naming: { name } }, reach);
}

/** Resumes the interrupted run without repeating calls in doubt. */
async function recover(): Promise<unknown> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const [newest] = await app.inspector.list(DEFAULT_SCOPE, { limit: 1 });
    if (newest === undefined || newest.intent !== intent) return { state: "never began" };
    if (newest.state === "parked" && newest.approvalId !== undefined) {
      const refusal = { decision: "refuse", by: "torture", via: "cli" } as const;
      await app.permissions.decideApproval(DEFAULT_SCOPE, newest.approvalId, refusal);
      await app.engine.continueRun(DEFAULT_SCOPE, newest.id, reach);
    } else if (newest.state !== "running") return { state: newest.state, result: newest.result, error: newest.error };
    if (Date.now() > deadline) return { state: "hangs" };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

if (mode === "learn") console.log(JSON.stringify(await run(innerProgram, "util:add_two")));
else if (mode === "recover") console.log(JSON.stringify(await recover()));
else {
  countPositions();
  const answer = await run(replayPrograms[program] ?? "");
  console.log(JSON.stringify({ ...answer, positions: position }));
}

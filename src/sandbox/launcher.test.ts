import { describe, expect, it } from "vitest";
import { isAlive, openSandbox, runProgram } from "../../test/support/sandbox.ts";
import { resolveEngine } from "./engine-files.ts";
import { resolveLauncher } from "./launcher.ts";

const settings = { engine: resolveEngine("isolated-vm"), jit: false, memoryMb: 64 };
const bubblewrap = await resolveLauncher("bubblewrap", settings).catch(() => undefined);

describe("resolveLauncher", () => {
  it("refuses a folder whose name would open other folders to the child", async () => {
    const engine = { ...settings.engine, readable: ["/home/a*b/engine/*"] };
    await expect(resolveLauncher("plain", { ...settings, engine })).rejects.toThrow("with a star in its path");
  });

  it("passes hostile paths as one word each, after the option that takes them", async () => {
    const paths = ["/opt/--bind / /", "/opt/a b;rm -rf", "/opt/$(id)\n--share-net", "/opt/,/etc/shadow"];
    const engine = { ...settings.engine, readable: paths };
    const { args } = await resolveLauncher("plain", { ...settings, engine });
    for (const path of paths) expect(args.filter((word) => word === `--allow-fs-read=${path}`)).toHaveLength(1);
    expect(args.filter((word) => word.startsWith("--allow-") && !word.startsWith("--allow-fs-read="))).toEqual([
      "--allow-addons",
    ]);
  });

  it("takes bubblewrap where it works, and logs the choice", async () => {
    const lines: unknown[] = [];
    const log = { debug() {}, info: (line: unknown) => void lines.push(line), warn() {}, error() {} };
    await using sandbox = openSandbox({ launcher: "auto", jit: true }, log);
    expect(await runProgram(sandbox, "return typeof WebAssembly")).toMatchObject({ value: "undefined" });
    expect(lines).toEqual([
      { engine: "isolated-vm", jit: true, launcher: bubblewrap === undefined ? "plain" : "bubblewrap" },
    ]);
  });

  it.skipIf(bubblewrap === undefined)("measures and kills a process inside bubblewrap", async () => {
    const sandbox = openSandbox({ launcher: "bubblewrap", idleChildren: 0 });
    const { defaultLimits } = await import("../../test/support/sandbox.ts");
    const limits = { ...defaultLimits, cpuMs: 300 };
    expect(await runProgram(sandbox, "for (;;);", { limits })).toMatchObject({ kind: "limit", limit: "cpuMs" });
    const greedy = "const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))";
    const small = { ...defaultLimits, memoryMb: 2_000, maxRssMb: 200 };
    expect(await runProgram(sandbox, greedy, { limits: small })).toMatchObject({ kind: "limit", limit: "maxRssMb" });
    expect(await runProgram(sandbox, "return 1")).toMatchObject({ value: 1 });
    const pids = [...sandbox.pids];
    await sandbox[Symbol.asyncDispose]();
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

/**
 * Compares versions of PML: checkouts, or one checkout with different environment variables.
 * Usage: npm run bench:versions -- before=<folder> after=<folder>[,NAME=value …] [--rounds 15] [--json <file>]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { testEnvironment } from "../test/support/pml.ts";
import { servers, unbelieved, writeConfig } from "../test/support/upstream-servers.ts";
import { type DaemonAddress, readDaemonAddress } from "../src/daemon/daemon-file.ts";
import { readCpuMs, readMemory } from "./storage/daemon.ts";
import { describeMachine } from "./support/machine.ts";
import { interleave, timeEach } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

interface Version {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Running extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly startMs: number;
  readonly stdio: Client;
  readonly http: Client;
}

type FigureTable = Map<string, Map<string, number>>;

const START_LIMIT_MS = 60_000;
const WARM_UPS = 40;
const CALLS = 20;
const IN_FLIGHT = 8;
const CALLS_AT_ONCE = 160;
const QUIET_MS = 30_000;
const ECHO = { name: "everything__echo", arguments: { message: "x".repeat(64) } };
const PROGRAMS: Readonly<Record<string, string>> = {
  "program without calls": "return 1",
  "program of one call": `return await mcp.everything.echo({ message: "x" })`,
  "program of one call that acts": `return await mcp.acting.echo({ message: "x" })`,
  "program of ten calls": `let last; for (let n = 0; n < 10; n++) last = await mcp.everything.echo({ message: "x" + n }); return last`,
};

function parseVersion(text: string): Version {
  const [name, rest] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
  const [folder = ".", ...settings] = rest.split(",");
  return { name, folder: resolve(folder), env: Object.fromEntries(settings.map((each) => each.split("=", 2))) };
}

async function start({ name, folder, env }: Version, root: string): Promise<Running> {
  const home = join(root, name);
  mkdirSync(home);
  // An older version knows no `trustHints`.
  const everything = unbelieved(servers.everything);
  const permissions = { allow: ["*"], effects: { "everything:*": "read", "acting:*": "write" } };
  writeConfig(home, { mcpServers: { everything, acting: everything }, permissions });
  const environment = testEnvironment({ home, env });
  const pml = join(folder, "bin", "pml.js");
  const started = performance.now();
  const daemon = spawn(process.execPath, [pml, "serve"], { env: environment, cwd: home, stdio: "ignore" });
  const address = await waitForDaemon(daemon, home);
  const startMs = performance.now() - started;
  const stdio = new Client({ name: "bench", version: "1.0.0" });
  await stdio.connect(
    new StdioClientTransport({ command: process.execPath, args: [pml, "mcp"], env: environment, stderr: "ignore" }),
  );
  const http = new Client({ name: "bench", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${address.token}` };
  await http.connect(new StreamableHTTPClientTransport(new URL("/mcp", address.url), { requestInit: { headers } }));
  await waitForTool(stdio);
  return {
    name,
    pid: address.pid,
    startMs,
    stdio,
    http,
    async [Symbol.asyncDispose]() {
      await Promise.all([stdio.close(), http.close()]);
      const exited = once(daemon, "exit");
      daemon.kill("SIGTERM");
      await exited;
    },
  };
}

async function waitForDaemon(daemon: ChildProcess, home: string): Promise<DaemonAddress> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline && daemon.exitCode === null) {
    const address = readDaemonAddress(home);
    const ready = address && (await fetch(new URL("/readyz", address.url)).catch(() => undefined));
    if (address !== undefined && ready?.ok === true) return address;
    await sleep(10);
  }
  throw new Error(`pml serve in ${home} did not get ready`);
}

/** A first start answers before it is connected to its servers. */
async function waitForTool(client: Client): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline) {
    const answer = await client.callTool(ECHO).catch(() => undefined);
    if (answer?.isError !== true && answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`${ECHO.name} cannot be called`);
}

async function call(client: Client, request: { name: string; arguments: Record<string, unknown> }): Promise<void> {
  const result = await client.callTool(request);
  if (result.isError === true) throw new Error(JSON.stringify(result.content));
}

async function callTogether(client: Client): Promise<number[]> {
  const started = performance.now();
  let left = CALLS_AT_ONCE;
  const work = async (): Promise<void> => {
    while (left-- > 0) await call(client, ECHO);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return [(performance.now() - started) / CALLS_AT_ONCE];
}

interface Measurement {
  readonly row: string;
  readonly warmUps: number;
  readonly round: (version: Running) => Promise<number[]>;
}

const measurements: readonly Measurement[] = [
  { row: "call over stdio", warmUps: WARM_UPS, round: ({ stdio }) => timeEach(CALLS, () => call(stdio, ECHO)) },
  { row: "call over HTTP", warmUps: WARM_UPS, round: ({ http }) => timeEach(CALLS, () => call(http, ECHO)) },
  { row: "call over stdio, 8 in flight", warmUps: 5, round: ({ stdio }) => callTogether(stdio) },
  { row: "call over HTTP, 8 in flight", warmUps: 5, round: ({ http }) => callTogether(http) },
  ...Object.entries(PROGRAMS).map(([row, code]) => ({
    row,
    warmUps: 5,
    round: ({ stdio }: Running) =>
      timeEach(CALLS / 2, () => call(stdio, { name: "pml_execute", arguments: { intent: "benchmark", code } })),
  })),
];

/** Measures the median in ms, and the daemon's CPU time per operation, which does not depend on other processes. */
async function measure(
  { row, warmUps, round }: Measurement,
  versions: readonly Running[],
  rounds: number,
  figures: FigureTable,
): Promise<void> {
  const cpu = new Map<string, number>();
  const operations = new Map<string, number>();
  const variants = versions.map((version) => ({
    name: version.name,
    round: async (at: number) => {
      const before = readCpuMs(version.pid) ?? 0;
      const durations = await round(version);
      if (at >= warmUps) {
        cpu.set(version.name, (cpu.get(version.name) ?? 0) + (readCpuMs(version.pid) ?? 0) - before);
        const count = durations.length === 1 ? CALLS_AT_ONCE : durations.length;
        operations.set(version.name, (operations.get(version.name) ?? 0) + count);
      }
      return durations;
    },
  }));
  const samples = await interleave(variants, { rounds, warmUps, signal: new AbortController().signal });
  for (const [name, durations] of samples) {
    record(figures, `${row}, p50 ms`, name, percentile(durations.flat(), 0.5));
    record(figures, `${row}, CPU ms`, name, (cpu.get(name) ?? 0) / (operations.get(name) ?? 1));
  }
}

function record(figures: FigureTable, row: string, column: string, value: number): void {
  const columns = figures.get(row) ?? new Map<string, number>();
  figures.set(row, columns.set(column, value));
}

function print(figures: FigureTable, names: readonly string[]): string {
  const [base = ""] = names;
  const lines = [...figures].map(([row, columns]) => {
    const cells = names.map((name) => {
      const value = columns.get(name) ?? Number.NaN;
      const ratio = name === base ? "" : ` (${(value / (columns.get(base) ?? Number.NaN)).toFixed(2)})`;
      return `${value < 10 ? value.toFixed(2) : value.toFixed(0)}${ratio}`;
    });
    return `| ${row} | ${cells.join(" | ")} |`;
  });
  return [`| | ${names.join(" | ")} |`, `|---|${names.map(() => "---|").join("")}`, ...lines].join("\n");
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "15" }, json: { type: "string" } },
});
const root = mkdtempSync(join(tmpdir(), "pml-bench-versions-"));
await using stack = new AsyncDisposableStack();
stack.defer(() => rmSync(root, { recursive: true, force: true }));
const figures: FigureTable = new Map();
const versions: Running[] = [];
for (const version of positionals.map(parseVersion)) versions.push(stack.use(await start(version, root)));
for (const { name, startMs } of versions) record(figures, "first start, ms", name, startMs);
for (const { name, stdio } of versions) {
  await call(stdio, { name: "pml_discover", arguments: { intent: `say something back to ${name}` } });
}
for (const measurement of measurements) {
  console.error(`${measurement.row} …`);
  await measure(measurement, versions, Number(values.rounds), figures);
}
const recordMemory = (row: string): void => {
  for (const { name, pid } of versions) record(figures, row, name, readMemory(pid)?.rssMb ?? Number.NaN);
};
recordMemory("memory at the end, MB");
await sleep(QUIET_MS);
recordMemory(`memory ${QUIET_MS / 1000} s later, MB`);
console.log(
  `${describeMachine().cpu}\n${print(
    figures,
    versions.map(({ name }) => name),
  )}`,
);
if (values.json !== undefined) {
  const table = Object.fromEntries([...figures].map(([row, columns]) => [row, Object.fromEntries(columns)]));
  writeFileSync(values.json, JSON.stringify({ machine: describeMachine(), figures: table }, undefined, 2));
}

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { PML, testEnvironment } from "../test/support/pml.ts";
import { servers, writeConfig } from "../test/support/upstream-servers.ts";
import { describeUtcpServer, type Peer, startPeer } from "./execute/peer.ts";
import { startDaemon } from "./storage/daemon.ts";
import type { Benchmark, Goal, BenchSession } from "./support/benchmark.ts";
import { interleave, timeEach, type MeasuredVariant } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 12;
const RUNS_PER_ROUND = 10;
const AT_ONCE = 8;
const RUNS_AT_ONCE = 80;

/** The same work for each product. UTCP's tools block, so it has no parallel calls. */
interface Workload {
  readonly row: string;
  readonly pml: string;
  readonly utcp?: string;
  readonly bare?: string;
  /** A tool that a client calls ten times itself. */
  readonly direct?: { readonly tool: DirectTool; readonly atOnce: boolean };
}

type DirectTool = "echo" | "look";

const TRANSFORM = `
  const rows = Array.from({ length: 12000 }, (_, n) => ({ id: n, group: "g" + (n % 50), value: n * 1.5, text: "row number " + n }));
  const parsed = JSON.parse(JSON.stringify(rows));
  const sums = {};
  for (const { group, value } of parsed) sums[group] = (sums[group] ?? 0) + value;
  return Object.keys(sums).length;`;

const works: readonly Workload[] = [
  { row: "no-op", pml: "return 1", utcp: "return 1", bare: "return 1" },
  {
    row: "one call",
    pml: `return await mcp.everything.echo({ message: "x" })`,
    utcp: `return manual.everything_echo({ message: "x" })`,
  },
  {
    row: "one call that acts",
    pml: `return await mcp.acting.echo({ message: "x" })`,
    utcp: `return manual.everything_echo({ message: "x" })`,
  },
  {
    row: "ten calls, one after the other",
    pml: `let last; for (let n = 0; n < 10; n++) last = await mcp.everything.echo({ message: "x" + n }); return last`,
    utcp: `let last; for (let n = 0; n < 10; n++) last = manual.everything_echo({ message: "x" + n }); return last`,
    direct: { tool: "echo", atOnce: false },
  },
  {
    row: "ten calls at once",
    pml: `const all = await Promise.all(Array.from({ length: 10 }, (_, n) => mcp.everything.echo({ message: "x" + n }))); return all.length`,
    direct: { tool: "echo", atOnce: true },
  },
  {
    row: "ten calls of 10 ms, one after the other",
    pml: `let last; for (let n = 0; n < 10; n++) last = await mcp.patient.look({ message: "x" + n }); return last`,
    direct: { tool: "look", atOnce: false },
  },
  {
    row: "ten calls of 10 ms at once",
    pml: `const all = await Promise.all(Array.from({ length: 10 }, (_, n) => mcp.patient.look({ message: "x" + n }))); return all.length`,
    direct: { tool: "look", atOnce: true },
  },
  { row: "transform of 1 MB", pml: TRANSFORM, utcp: TRANSFORM, bare: TRANSFORM },
];

const UTCP = "UTCP over stdio";
const UTCP_INSIDE = "UTCP in process";
const columns = ["PML", UTCP, UTCP_INSIDE, "bare isolate", "direct stdio"];

/** Answers after 10 ms, like a tool that uses a network; server-everything answers at once. */
const patient = {
  command: process.execPath,
  args: [join(import.meta.dirname, "execute", "patient-server.ts")],
  pml: { trustHints: true },
};

/** Compares programs through pml_execute, all recorded durably, with products that record nothing. */
export const execute: Benchmark = {
  title: "programs over tools (server-everything)",
  columns,
  async run(session) {
    const folder = mkdtempSync(join(tmpdir(), "pml-bench-execute-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    session.progress("starting PML, UTCP code-mode and the server");
    const home = join(folder, "home");
    mkdirSync(home);
    const { everything } = servers;
    const allow = ["everything:*", "acting:*", "patient:*"];
    // Before a call that may change something, the journal up to it is durable.
    const permissions = { allow, effects: { "acting:*": "write" } };
    writeConfig(home, { mcpServers: { everything, acting: everything, patient }, permissions });
    const daemon = stack.use(await startDaemon(home));
    session.note(
      `daemon pid ${daemon.pid}; journal, trace, results and counters are certain on disk before each answer`,
    );
    const pml = await connect(stack, { args: [PML, "mcp"], env: testEnvironment({ home }) });
    const direct = {
      echo: await connect(stack, { args: everything.args }),
      look: await connect(stack, { args: patient.args }),
    };
    const parties = {
      pml,
      direct,
      utcp: await connect(stack, describeUtcpServer()),
      peer: stack.use(await startPeer()),
    };
    recordGoals(session, await measureLatency(session, parties));
    await measureThroughput(session, parties);
  },
};

interface Participants {
  readonly pml: Client;
  readonly utcp: Client;
  readonly direct: Readonly<Record<DirectTool, Client>>;
  readonly peer: Peer;
}

async function connect(
  stack: AsyncDisposableStack,
  given: { readonly args: string[]; readonly env?: Record<string, string>; readonly cwd?: string },
): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, stderr: "ignore", ...given }));
  stack.defer(() => client.close());
  return client;
}

async function runProgram(client: Client, code: string): Promise<void> {
  await callAndCheck(client, { name: "pml_execute", arguments: { intent: "benchmark", code } });
}

async function runChain(client: Client, code: string): Promise<void> {
  await callAndCheck(client, { name: "call_tool_chain", arguments: { code } });
}

async function callAndCheck(client: Client, call: Parameters<Client["callTool"]>[0]): Promise<void> {
  const { content, isError } = await client.callTool(call);
  if (isError === true) throw new Error(JSON.stringify(content));
}

async function callTen(client: Client, { tool: name, atOnce }: NonNullable<Workload["direct"]>): Promise<void> {
  const call = (n: number): Promise<unknown> => client.callTool({ name, arguments: { message: `x${n}` } });
  if (atOnce) await Promise.all(Array.from({ length: 10 }, (_, n) => call(n)));
  else for (let n = 0; n < 10; n += 1) await call(n);
}

/** Medians by row and column. */
type Medians = Map<string, number>;

async function measureLatency(
  session: BenchSession,
  { pml, utcp: front, direct, peer }: Participants,
): Promise<Medians> {
  const medians: Medians = new Map();
  for (const { row, pml: code, utcp, bare, direct: ten } of works) {
    session.progress(row);
    const variants: MeasuredVariant[] = [
      { name: "PML", round: () => timeEach(RUNS_PER_ROUND, () => runProgram(pml, code)) },
      ...(utcp === undefined
        ? []
        : [{ name: UTCP, round: () => timeEach(RUNS_PER_ROUND, () => runChain(front, utcp)) }]),
      ...fromPeer(peer, UTCP_INSIDE, utcp && { kind: "utcp", code: utcp }),
      ...fromPeer(peer, "bare isolate", bare && { kind: "bare", code: bare }),
      ...(ten === undefined
        ? []
        : [{ name: "direct stdio", round: () => timeEach(RUNS_PER_ROUND, () => callTen(direct[ten.tool], ten)) }]),
    ];
    const samples = await interleave(variants, { rounds: ROUNDS, warmUps: 3, signal: session.signal });
    for (const [column, rounds] of samples) {
      medians.set(`${row} ${column}`, percentile(rounds.flat(), 0.5));
      const goal: { goal?: Goal } = row === "no-op" && column === "PML" ? { goal: { atMost: 8 } } : {};
      session.record({ row: `${row}, p50`, unit: "ms", column, value: percentile(rounds.flat(), 0.5), ...goal });
      session.record({ row: `${row}, p95`, unit: "ms", column, value: percentile(rounds.flat(), 0.95) });
    }
  }
  return medians;
}

function fromPeer(
  peer: Peer,
  name: string,
  work: { readonly kind: "utcp" | "bare"; readonly code: string } | "" | undefined,
): MeasuredVariant[] {
  if (work === undefined || work === "") return [];
  return [{ name, round: async () => (await peer.run({ ...work, count: RUNS_PER_ROUND })).durations }];
}

function recordGoals(session: BenchSession, medians: Medians): void {
  const divide = (part: string, whole: string): number =>
    (medians.get(part) ?? Number.NaN) / (medians.get(whole) ?? Number.NaN);
  const ratio = (row: string, [part, whole]: readonly [string, string], atMost: number): void =>
    session.record({ row, unit: "×", column: "PML", value: divide(part, whole), goal: { atMost } });
  for (const peer of [UTCP, UTCP_INSIDE]) ratio(`one call ÷ ${peer}`, ["one call PML", `one call ${peer}`], 0.8);
  for (const [row, ten] of [
    ["ten at once ÷ ten direct calls", "ten calls"],
    ["ten of 10 ms at once ÷ ten direct calls", "ten calls of 10 ms"],
  ] as const) {
    const whole = `${ten}, one after the other direct stdio`;
    ratio(row, [`${ten} at once PML`, whole], 0.5);
    // The lower bound for every caller of this server.
    const value = divide(`${ten} at once direct stdio`, whole);
    session.record({ row, unit: "×", column: "direct stdio", value });
  }
}

async function measureThroughput(session: BenchSession, { pml, utcp: front, peer }: Participants): Promise<void> {
  session.progress(`${RUNS_AT_ONCE} programs of one call, ${AT_ONCE} at a time`);
  const [, { pml: code, utcp = "" } = works[0] as Workload] = works;
  const variants: MeasuredVariant[] = [
    { name: "PML", round: async () => [await timeTogether(() => runProgram(pml, code))] },
    { name: UTCP, round: async () => [await timeTogether(() => runChain(front, utcp))] },
    {
      name: UTCP_INSIDE,
      round: async () => {
        const { total } = await peer.run({ kind: "utcp", code: utcp, count: AT_ONCE, together: true });
        return [(total * RUNS_AT_ONCE) / AT_ONCE];
      },
    },
  ];
  const samples = await interleave(variants, { rounds: 5, warmUps: 2, signal: session.signal });
  for (const [column, rounds] of samples) {
    const value = (RUNS_AT_ONCE * 1000) / percentile(rounds.flat(), 0.5);
    session.record({ row: "programs of one call, 8 at a time", unit: "/s", column, value });
  }
}

async function timeTogether(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let left = RUNS_AT_ONCE;
  const work = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return performance.now() - started;
}

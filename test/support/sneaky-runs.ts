/** Runs programs that try to call tools outside the approved set. */
import type { Client } from "@modelcontextprotocol/client";
import type { CountingScene } from "./counting-scene.ts";
import { execute } from "./execute.ts";
import { allowsForms, connectClient, type TestClient } from "./mcp-client.ts";
import { Random } from "./random.ts";
import { writeSneakyProgram } from "./sneaky-programs.ts";

/** Settings of the scene: one of the tools that write is denied, the others are asked for. */
export const sneakySettings = { permissions: { deny: ["counting:drop"] }, ...allowsForms };
/** Some programs break the primitives they wait with. */
const options = { timeout: 2 };
const AT_ONCE = 4;
const FORBIDDEN = /counting:(?:add|put|drop)/;

/** Connects a person who approves plans that only read, dynamic calls included, and refuses everything else. */
export function connectReader(scene: CountingScene): Promise<TestClient> {
  return connectClient(scene.home.path, {
    answer: async (message) => {
      const tools = message.match(/^ {2}tool .*$/gm) ?? [];
      return { action: "accept", content: { answer: FORBIDDEN.test(tools.join()) ? "refuse" : "once" } };
    },
  });
}

/** Returns the calls that reached the server and do more than read. */
export function writtenIn(scene: CountingScene): string[] {
  return scene.happened().filter((line) => !line.startsWith("read "));
}

/** Saves the capabilities that sneaky programs call. */
export async function saveSneakyCapabilities(client: Client): Promise<void> {
  const reads = `return await mcp.counting.read({ key: args.key })`;
  await execute(client, { code: reads, args: { key: "r" }, name: "util:reads" });
  for (const tool of ["add", "put", "drop"]) {
    const code = `return await mcp.counting[${JSON.stringify(tool)}]({ key: args.key })`;
    await execute(client, { code, args: { key: "nested" }, name: `util:sneak_${tool}` });
  }
}

export interface SneakyReport {
  ended: number;
  succeeded: number;
  /** Programs after which more than reading had reached the server. */
  problems: string[];
}

export interface SneakyRun {
  readonly programs: number;
  readonly seed: number;
  /** Tools that the programs try to call. */
  readonly tools: readonly string[];
}

export async function runSneakyPrograms(
  scene: CountingScene,
  client: Client,
  { programs, seed, tools }: SneakyRun,
): Promise<SneakyReport> {
  const random = new Random(seed);
  const left = Array.from({ length: programs }, () => writeSneakyProgram(random, random.pick(tools)));
  const report: SneakyReport = { ended: 0, succeeded: 0, problems: [] };
  const work = async (): Promise<void> => {
    for (let code = left.shift(); code !== undefined && report.problems.length === 0; code = left.shift()) {
      const { status, error } = await execute(client, { code, options });
      report.ended += 1;
      if (status === "success") report.succeeded += 1;
      const written = writtenIn(scene);
      if (written.length > 0) report.problems.push(`${written.join(", ")}\n${code}\n${JSON.stringify(error)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return report;
}

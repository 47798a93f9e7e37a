/** Runs the benchmarks named on the command line, or all of them. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../src/package-info.ts";
import type { Benchmark } from "./support/benchmark.ts";
import { describeMachine } from "./support/machine.ts";
import { countMisses, printReport, type Report, runBenchmark, writeReports } from "./support/report.ts";

const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  storage: async () => (await import("./storage.ts")).storage,
  gateway: async () => (await import("./gateway.ts")).gateway,
  execute: async () => (await import("./execute.ts")).execute,
  analysis: async () => (await import("./analysis.ts")).analysis,
  sandbox: async () => (await import("./sandbox.ts")).sandbox,
  names: async () => (await import("./names.ts")).names,
};

const USAGE = `Usage: npm run bench -- [name …] [--json <file>] [--assert]
Known benchmarks: ${Object.keys(benchmarks).join(", ")}`;

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_GOAL_MISSED = 8;

interface Wishes {
  readonly names: readonly string[];
  readonly json: string | undefined;
  readonly assert: boolean;
}

function readWishes(args: string[]): Wishes | string {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: "string" }, assert: { type: "boolean", default: false } },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(benchmarks, name));
    if (unknown !== undefined) return `There is no benchmark "${unknown}"`;
    const names = positionals.length === 0 ? Object.keys(benchmarks) : [...new Set(positionals)];
    return { names, json: values.json, assert: values.assert };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => controller.abort(new Error(`interrupted by ${signal}`)));
  }
  return controller.signal;
}

async function runAll({ names, json, assert }: Wishes): Promise<number> {
  const signal = abortOnSignals();
  const reports: Report[] = [];
  for (const name of names) {
    const benchmark = await benchmarks[name]?.();
    if (benchmark === undefined) throw new Error(`Benchmark ${name} did not load`);
    const report = await runBenchmark({ name, benchmark, machine: describeMachine(), signal });
    printReport(benchmark.title, report);
    reports.push(report);
    const path = json === undefined ? join(packageRoot, ".cache", `bench-${name}.json`) : resolve(json);
    // Given one file for several benchmarks, it has all that are finished.
    await writeReports(path, json === undefined ? [report] : reports);
    console.log(`\nAll figures: ${path}`);
  }
  return assert && reports.some((report) => countMisses(report) > 0) ? EXIT_GOAL_MISSED : 0;
}

const wishes = readWishes(process.argv.slice(2));
if (typeof wishes === "string") {
  console.error(`${wishes}\n${USAGE}`);
  process.exitCode = EXIT_USAGE;
} else {
  try {
    // What was compared with may have left connections open; nothing of it is needed any more.
    process.exit(await runAll(wishes));
  } catch (error) {
    console.error("The benchmark failed:", error);
    process.exitCode = EXIT_FAILED;
  }
}

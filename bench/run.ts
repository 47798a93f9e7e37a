/** Runs the benchmarks named on the command line, or all of them. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../src/base/package-info.ts";
import type { Benchmark } from "./support/benchmark.ts";
import { describeMachine } from "./support/machine.ts";
import {
  countMisses,
  formatReports,
  printReport,
  type BenchReport,
  runBenchmark,
  writeReports,
} from "./support/report.ts";

const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  storage: async () => (await import("./storage.ts")).storage,
  gateway: async () => (await import("./gateway.ts")).gateway,
  execute: async () => (await import("./execute.ts")).execute,
  budgets: async () => (await import("./budgets.ts")).budgets,
  analysis: async () => (await import("./analysis.ts")).analysis,
  naming: async () => (await import("./naming.ts")).naming,
  sandbox: async () => (await import("./sandbox.ts")).sandbox,
  discovery: async () => (await import("./discovery.ts")).discovery,
  "discovery-speed": async () => (await import("./discovery-speed.ts")).discoverySpeed,
  "discovery-learning": async () => (await import("./discovery-learning.ts")).discoveryLearning,
  "discovery-evidence": async () => (await import("./discovery-evidence.ts")).discoveryEvidence,
  speculation: async () => (await import("./speculation.ts")).speculation,
  names: async () => (await import("./names.ts")).names,
  generalise: async () => (await import("./generalise.ts")).generalise,
};

const USAGE = `Usage: npm run bench -- [name …] [--data <folder>] [--worlds <folder>] [--json [file]] [--assert]
Known benchmarks: ${Object.keys(benchmarks).join(", ")}`;

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_GOAL_MISSED = 8;

interface BenchArguments {
  readonly names: readonly string[];
  /** A file; an empty name prints to stdout only. */
  readonly json: string | undefined;
  readonly data: string | undefined;
  readonly worlds: string | undefined;
  readonly assert: boolean;
}

/** `--json` may stand alone; the parser then needs an empty value. */
function fillJson(args: readonly string[]): string[] {
  return args.map((arg, at) => {
    const next = args[at + 1];
    const alone = next === undefined || next.startsWith("-") || Object.hasOwn(benchmarks, next);
    return arg === "--json" && alone ? "--json=" : arg;
  });
}

function readArguments(args: string[]): BenchArguments | string {
  try {
    const { values, positionals } = parseArgs({
      args: fillJson(args),
      allowPositionals: true,
      options: {
        json: { type: "string" },
        data: { type: "string" },
        worlds: { type: "string" },
        assert: { type: "boolean", default: false },
      },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(benchmarks, name));
    if (unknown !== undefined) return `There is no benchmark "${unknown}"`;
    const names = positionals.length === 0 ? Object.keys(benchmarks) : [...new Set(positionals)];
    const { json, data, worlds, assert } = values;
    return { names, json, data, worlds, assert };
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

async function runAll({ names, json, assert, ...folders }: BenchArguments): Promise<number> {
  const signal = abortOnSignals();
  const reports: BenchReport[] = [];
  for (const name of names) {
    const benchmark = await benchmarks[name]?.();
    if (benchmark === undefined) throw new Error(`Benchmark ${name} did not load`);
    const report = await runBenchmark({ name, benchmark, machine: describeMachine(), signal, ...folders });
    reports.push(report);
    if (json === "") continue;
    printReport(benchmark.title, report);
    const path = json === undefined ? join(packageRoot, ".cache", `bench-${name}.json`) : resolve(json);
    // One file for several benchmarks has all that are finished.
    await writeReports(path, json === undefined ? [report] : reports);
    console.log(`\nAll figures: ${path}`);
  }
  if (json === "") await writeOut(formatReports(reports));
  return assert && reports.some((report) => countMisses(report) > 0) ? EXIT_GOAL_MISSED : 0;
}

/** Waits for the pipe: the process exits right afterwards. */
function writeOut(text: string): Promise<void> {
  return new Promise((done) => void process.stdout.write(text, () => done()));
}

const options = readArguments(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n${USAGE}`);
  process.exitCode = EXIT_USAGE;
} else {
  try {
    // Exits explicitly: peers may have left connections open.
    process.exit(await runAll(options));
  } catch (error) {
    console.error("The benchmark failed:", error);
    process.exitCode = EXIT_FAILED;
  }
}

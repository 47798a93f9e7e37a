/**
 * Applies each deliberate defect of `test/mutants` alone to a copy of the checkout and expects the tests that
 * claim its requirements to fail. `npm run mutants [name …]`; `--jobs N` at a time; `--sample N --seed S`
 * tries N of them, chosen by the seed; `--timeout S` seconds each; `--baseline` first runs the same tests
 * without the defect, otherwise the last `npm test` is trusted. Exits with 1 when a defect goes unnoticed.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { type Checkout, copyCheckout } from "./mutants/checkout.ts";
import { claimPattern, type Mutant, parseMutant, sampleMutants } from "./mutants/mutant.ts";
import { runTests, type TestRun, type TestSelection } from "./mutants/run-tests.ts";
import { findUnsound, judge, type Judgement, type Verdict } from "./mutants/verdict.ts";

interface MutantResult {
  readonly mutant: string;
  readonly ids: readonly string[];
  readonly result: Verdict | "error";
  readonly seconds: number;
  readonly detail: string;
}

const root = resolve(import.meta.dirname, "..");
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: "string", default: "2" },
    sample: { type: "string" },
    seed: { type: "string", default: "" },
    timeout: { type: "string", default: "240" },
    baseline: { type: "boolean", default: false },
  },
});

function readMutants(): Mutant[] {
  return globSync("test/mutants/*.patch", { cwd: root })
    .toSorted()
    .map((file) => parseMutant(basename(file, ".patch"), readFileSync(join(root, file), "utf8")));
}

function chooseMutants(all: readonly Mutant[]): readonly Mutant[] {
  const unknown = names.filter((name) => !all.some((mutant) => mutant.name === name));
  if (unknown.length > 0) throw new Error(`There is no mutant ${unknown.join(", ")} in test/mutants`);
  if (names.length > 0) return all.filter(({ name }) => names.includes(name));
  if (options.sample === undefined) return all;
  const rank = (name: string): string => createHash("sha256").update(`${options.seed}\n${name}`).digest("hex");
  return sampleMutants(all, Number(options.sample), rank);
}

const acceptanceTests = globSync("test/acceptance/**/*.test.ts", { cwd: root })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

function selectTests({ ids, tests, names: pattern, isWhole }: Mutant): TestSelection {
  if (ids.length === 0) return { files: tests, names: pattern };
  const claim = claimPattern(ids);
  const claiming = acceptanceTests.filter(({ text }) => claim.test(text)).map(({ file }) => file);
  return { files: tests.length > 0 ? tests : claiming, names: isWhole ? undefined : claim };
}

const baselines = new Map<string, Promise<string | undefined>>();

/** Defects that are judged by the same tests share one run without a defect. */
function findBaselineProblem(selection: TestSelection, run: TestRun): Promise<string | undefined> {
  const key = `${selection.files.join(" ")} ${selection.names?.source ?? ""}`;
  const known = baselines.get(key) ?? runTests(selection, run).then(findUnsound);
  baselines.set(key, known);
  return known;
}

async function tryMutant(mutant: Mutant, checkout: Checkout, run: TestRun): Promise<Judgement> {
  const selection = selectTests(mutant);
  if (selection.files.length === 0) return { verdict: "not shown", detail: "no test claims an id" };
  if (options.baseline) {
    const unsound = await findBaselineProblem(selection, run);
    if (unsound !== undefined) throw new Error(unsound);
  }
  try {
    checkout.apply(mutant);
    return judge(mutant.ids, await runTests(selection, run));
  } finally {
    checkout.restore(mutant);
  }
}

async function measure(mutant: Mutant, checkout: Checkout, run: TestRun): Promise<MutantResult> {
  const start = performance.now();
  const { verdict, detail } = await tryMutant(mutant, checkout, run).catch((error: unknown) => ({
    verdict: "error" as const,
    detail: error instanceof Error ? error.message : String(error),
  }));
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`${verdict.padEnd(18)}${mutant.name} (${seconds} s) ${detail}`);
  return { mutant: mutant.name, ids: mutant.ids, result: verdict, seconds, detail };
}

const stop = new AbortController();
for (const stopSignal of ["SIGINT", "SIGTERM"] as const) process.once(stopSignal, () => stop.abort());

async function tryAll(mutants: readonly Mutant[]): Promise<MutantResult[]> {
  await using postgres = await startPostgres();
  const queue = [...mutants];
  const results: MutantResult[] = [];
  const work = async (): Promise<void> => {
    using checkout = copyCheckout(root);
    const { path: folder } = checkout;
    const timeoutMs = Number(options.timeout) * 1_000;
    const run = { folder, postgresUrl: postgres.url(""), timeoutMs, signal: stop.signal };
    for (let next = queue.shift(); next !== undefined && !stop.signal.aborted; next = queue.shift())
      results.push(await measure(next, checkout, run));
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  return results.toSorted((a, b) => (a.mutant < b.mutant ? -1 : 1));
}

/** The tests must pass without a defect: shown by a baseline, or by the last run of the whole suite. */
function requireBaseline(): void {
  const file = cacheFolder("test-results.json");
  if (options.baseline) return;
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { success: boolean }) : undefined;
  if (report?.success !== true)
    throw new Error(
      `The last run of the tests ${report === undefined ? "is not known" : "failed"}: run npm test, or use --baseline`,
    );
}

requireBaseline();
const chosen = chooseMutants(readMutants());
const results = await tryAll(chosen);
mkdirSync(cacheFolder(""), { recursive: true });
writeFileSync(cacheFolder("mutants.json"), `${JSON.stringify(results, null, 2)}\n`);
console.log("\n| mutant | ids | result | seconds | first failing test |\n|---|---|---|---|---|");
for (const { mutant, ids, result, seconds, detail } of results)
  console.log(`| ${mutant} | ${ids.join(" ")} | ${result} | ${seconds} | ${detail.replaceAll("|", "\\|")} |`);
const caught = results.filter(({ result }) => result.startsWith("caught"));
console.log(`\n${caught.length} of ${results.length} caught`);
process.exitCode = caught.length === results.length ? 0 : 1;

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import type { TestReport } from "./verdict.ts";

export interface TestSelection {
  readonly files: readonly string[];
  /** Pattern of the names to run; undefined runs all of each file. */
  readonly names: RegExp | undefined;
}

export interface TestRun {
  /** The checkout's folder. */
  readonly folder: string;
  readonly postgresUrl: string;
  readonly timeoutMs: number;
  /** Ends the tests early. */
  readonly signal: AbortSignal;
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs the selected tests in a checkout and reads vitest's report; "timeout" when they took too long. */
export async function runTests(selection: TestSelection, run: TestRun): Promise<TestReport | "timeout"> {
  const output = join(run.folder, "mutant-report.json");
  rmSync(output, { force: true });
  const args = [
    join(run.folder, "node_modules", "vitest", "vitest.mjs"),
    "run",
    ...selection.files,
    ...(selection.names === undefined ? [] : [`--testNamePattern=${selection.names.source}`]),
    "--maxWorkers=1",
    "--reporter=json",
    `--outputFile.json=${output}`,
  ];
  const { isTimeout, log } = await spawnBounded(args, run);
  if (isTimeout) return "timeout";
  if (!existsSync(output)) throw new Error(`vitest wrote no report: ${log.slice(-2_000)}`);
  const { testResults } = JSON.parse(readFileSync(output, "utf8")) as VitestReport;
  return {
    tests: testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ fullName, status }) => ({ name: fullName, status })),
    ),
    brokenFiles: testResults
      .filter(({ status, assertionResults }) => status === "failed" && !assertionResults.some(isFailed))
      .map(({ name }) => relative(run.folder, name)),
  };
}

function isFailed({ status }: { readonly status: string }): boolean {
  return status === "failed";
}

/** Ends the whole process group when time is up, since processes of the tests would outlive vitest. */
function spawnBounded(args: readonly string[], run: TestRun): Promise<{ isTimeout: boolean; log: string }> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PML_TEST_POSTGRES_URL: run.postgresUrl };
    const child = spawn(process.execPath, args, { cwd: run.folder, env, detached: true, stdio: "pipe" });
    let log = "";
    let isTimeout = false;
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    run.signal.addEventListener("abort", end, { once: true });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += String(chunk)));
    const timer = setTimeout(() => {
      isTimeout = true;
      end();
    }, run.timeoutMs);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      run.signal.removeEventListener("abort", end);
      resolve({ isTimeout, log });
    });
  });
}

/**
 * Runs the official conformance suite against `pml serve` with one server behind it, listed under its own names: a
 * check that passes, passes through the gateway. Then runs the login scenarios with the gateway as the client of the
 * suite's own servers; they take the longest, and `--no-logins` skips them. Exits with 1 when a required check fails.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { servers } from "../test/support/upstream-servers.ts";
import { startGateway } from "./conformance/gateway.ts";
import {
  type SuiteFinding,
  installSuite,
  runAuthScenarios,
  runRequirements,
  type SetResult,
} from "./conformance/suite.ts";
import { writeEvidence } from "./evidence.ts";
import { startTokenProxy } from "./conformance/token-proxy.ts";

interface ConformanceRun {
  /** Protocol eras of the server behind the gateway. */
  readonly server: "both eras" | "2025 only";
  readonly requirements: readonly (keyof typeof CHECKLIST_IDS)[];
}

/** A server of 2025 cannot name its questions, as 2026-07-28 demands of this fixture; all else holds for it too. */
const RUNS: readonly ConformanceRun[] = [
  { server: "both eras", requirements: ["2025-11-25", "2026-07-28"] },
  { server: "2025 only", requirements: ["2025-11-25"] },
];

const CHECKLIST_IDS = { "2025-11-25": "mcp-1", "2026-07-28": "mcp-2" } as const;
const AUTH_CHECKLIST_ID = "mcp-42";
const AUTH_REVISION = "2026-07-28";

type ConformanceResult = SetResult & {
  readonly server: ConformanceRun["server"] | "the suite's own";
  /** The line of docs/checklist.md that the run proves. */
  readonly checklistId: string;
};

async function run({ server, requirements }: ConformanceRun, signal: AbortSignal): Promise<ConformanceResult[]> {
  await using gateway = await startGateway(server === "both eras" ? servers.fixture() : servers.fixture("--legacy"));
  await using proxy = await startTokenProxy(gateway);
  const results: ConformanceResult[] = [];
  for (const revision of requirements) {
    const result = await runRequirements(revision, `${proxy.url}/mcp`, signal);
    results.push({ server, checklistId: CHECKLIST_IDS[revision], ...result });
  }
  return results;
}

function print(results: readonly ConformanceResult[]): void {
  console.table(
    results.map(({ server, requirements, scenarios, passed, failures, missing, warnings, unscored }) => ({
      requirements,
      server,
      scenarios,
      passed,
      failed: failures.length,
      "not run": missing.length,
      warnings: warnings.length,
      "failed, unscored": unscored.length,
    })),
  );
  for (const { server, requirements, failures, missing, warnings, unscored } of results) {
    const title = `${requirements}, ${server}`;
    printFindings(`${title}: failed`, failures);
    if (missing.length > 0) console.log(`\n${title}: not run: ${missing.join(", ")}`);
    printFindings(`${title}: warnings`, warnings);
    const named = [...new Set(unscored.map(({ scenario }) => scenario))];
    if (named.length > 0) console.log(`\n${title}: failed, unscored: ${named.join(", ")}`);
  }
}

function printFindings(title: string, findings: readonly SuiteFinding[]): void {
  if (findings.length === 0) return;
  console.log(`\n${title}`);
  for (const { scenario, check, message } of findings) console.log(`  ${scenario} ${check}: ${message}`);
}

const stop = new AbortController();
for (const stopSignal of ["SIGINT", "SIGTERM"] as const) process.once(stopSignal, () => stop.abort());
await installSuite();
const results: ConformanceResult[] = [];
for (const each of RUNS) results.push(...(await run(each, stop.signal)));
if (!process.argv.includes("--no-logins")) {
  const client = join(import.meta.dirname, "conformance", "auth-client.ts");
  const logins = await runAuthScenarios(AUTH_REVISION, client, stop.signal);
  results.push({ server: "the suite's own", checklistId: AUTH_CHECKLIST_ID, ...logins });
}
writeFileSync(cacheFolder("conformance.json"), `${JSON.stringify(results, null, 2)}\n`);
print(results);
const passed = ({ failures, missing }: ConformanceResult): boolean => failures.length + missing.length === 0;
writeEvidence(
  "conformance",
  results.map((result) => ({
    test: `${result.requirements}, ${result.server} [${result.checklistId}]`,
    status: passed(result) ? "passed" : "failed",
  })),
);
process.exitCode = results.every(passed) ? 0 : 1;

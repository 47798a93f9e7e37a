/**
 * The official conformance suite against `pml serve` with one server behind it, listed under its own
 * names: what passes, passes through the gateway. Exits with 1 when a required check fails.
 */
import { writeFileSync } from "node:fs";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { startGateway } from "./conformance/gateway.ts";
import { type Finding, installSuite, runRequirements, type SetResult } from "./conformance/suite.ts";
import { startTokenProxy } from "./conformance/token-proxy.ts";

const REQUIREMENTS = ["2025-11-25", "2026-07-28"] as const;

async function run(signal: AbortSignal): Promise<SetResult[]> {
  await installSuite();
  await using gateway = await startGateway();
  await using proxy = await startTokenProxy(gateway);
  const results: SetResult[] = [];
  for (const requirements of REQUIREMENTS) {
    results.push(await runRequirements(requirements, `${proxy.url}/mcp`, signal));
  }
  return results;
}

function print(results: readonly SetResult[]): void {
  console.table(
    results.map(({ requirements, scenarios, passed, failures, missing, warnings, unscored }) => ({
      requirements,
      scenarios,
      passed,
      failed: failures.length,
      "not run": missing.length,
      warnings: warnings.length,
      "failed, unscored": unscored.length,
    })),
  );
  for (const { requirements, failures, missing, warnings, unscored } of results) {
    printFindings(`${requirements}: failed`, failures);
    if (missing.length > 0) console.log(`\n${requirements}: not run: ${missing.join(", ")}`);
    printFindings(`${requirements}: warnings`, warnings);
    const named = [...new Set(unscored.map(({ scenario }) => scenario))];
    if (named.length > 0) console.log(`\n${requirements}: failed, unscored: ${named.join(", ")}`);
  }
}

function printFindings(title: string, findings: readonly Finding[]): void {
  if (findings.length === 0) return;
  console.log(`\n${title}`);
  for (const { scenario, check, message } of findings) console.log(`  ${scenario} ${check}: ${message}`);
}

const stop = new AbortController();
for (const stopSignal of ["SIGINT", "SIGTERM"] as const) process.once(stopSignal, () => stop.abort());
const results = await run(stop.signal);
writeFileSync(cacheFolder("conformance.json"), `${JSON.stringify(results, null, 2)}\n`);
print(results);
process.exitCode = results.some(({ failures, missing }) => failures.length + missing.length > 0) ? 1 : 0;

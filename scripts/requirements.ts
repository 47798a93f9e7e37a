/**
 * Which requirements have a passing acceptance test. The ids come from docs/requirements.md, the
 * evidence from the last run of the test suite: an id counts when it stands in square brackets in the
 * name of a test that passed and in that of none that failed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Evidence, summarise, type Summary } from "./requirement-coverage.ts";

const root = resolve(import.meta.dirname, "..");
const resultsFile = join(root, ".cache", "test-results.json");

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function readEvidence(): Evidence[] {
  const { testResults } = JSON.parse(readFileSync(resultsFile, "utf8")) as VitestReport;
  return testResults
    .filter(({ name }) => relative(root, name).startsWith(join("test", "acceptance")))
    .flatMap(({ assertionResults }) => assertionResults.map(({ fullName, status }) => ({ test: fullName, status })));
}

function print({ sections, unknown, covered: count, total }: Summary): void {
  for (const { title, covered, missing } of sections) {
    console.log(`\n${title}: ${covered.length} of ${covered.length + missing.length}`);
    if (covered.length > 0) console.log(`  covered      ${covered.join(" ")}`);
    if (missing.length > 0) console.log(`  not covered  ${missing.join(" ")}`);
  }
  if (unknown.length > 0) console.log(`\nIn test names, but not in docs/requirements.md: ${unknown.join(" ")}`);
  console.log(`\n${count} of ${total} requirements have a passing acceptance test`);
}

if (existsSync(resultsFile)) {
  const summary = summarise(readFileSync(join(root, "docs", "requirements.md"), "utf8"), readEvidence());
  if (process.argv.includes("--json")) console.log(JSON.stringify(summary, null, 2));
  else print(summary);
  process.exitCode = summary.unknown.length > 0 ? 1 : 0;
} else {
  console.error("There are no test results yet. Run: npm test");
  process.exitCode = 1;
}

/**
 * Reports which requirements, and which lines of the gateway's checklist, have a passing acceptance test. The ids come
 * from the documents, the evidence from the last run of the test suite: an id counts if it stands in square brackets in
 * the name of a passed test and of no failed one.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { readEvidence } from "./evidence.ts";
import { type TestEvidence, summarise, type Summary } from "./requirement-coverage.ts";

const root = resolve(import.meta.dirname, "..");
const resultsFile = join(root, ".cache", "test-results.json");

interface SuiteReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function readTests(): TestEvidence[] {
  const { testResults } = JSON.parse(readFileSync(resultsFile, "utf8")) as SuiteReport;
  return testResults
    .filter(({ name }) => relative(root, name).startsWith(join("test", "acceptance")))
    .flatMap(({ assertionResults }) => assertionResults.map(({ fullName, status }) => ({ test: fullName, status })));
}

function print({ sections, covered: count, total, withdrawn }: Summary, what: string): void {
  for (const { title, covered, missing } of sections) {
    console.log(`\n${title}: ${covered.length} of ${covered.length + missing.length}`);
    if (covered.length > 0) console.log(`  covered      ${covered.join(" ")}`);
    if (missing.length > 0) console.log(`  not covered  ${missing.join(" ")}`);
  }
  if (withdrawn.length > 0) console.log(`\nWithdrawn: ${withdrawn.join(" ")}`);
  console.log(
    `\n${count} of ${total} ${what} have a passing acceptance test: ` +
      `${count} shown, ${withdrawn.length} withdrawn, ${total - count} not shown`,
  );
}

function readDocument(name: string): string {
  return readFileSync(join(root, "docs", name), "utf8");
}

if (existsSync(resultsFile)) {
  const evidence = [...readTests(), ...readEvidence()];
  const requirements = summarise(readDocument("requirements.md"), evidence);
  const checklist = summarise(readDocument("checklist.md"), evidence);
  const unknown = requirements.unknown.filter((id) => checklist.unknown.includes(id));
  const contradictory = [...requirements.contradictory, ...checklist.contradictory];
  if (process.argv.includes("--json"))
    console.log(JSON.stringify({ requirements, checklist, unknown, contradictory }, null, 2));
  else {
    print(requirements, "requirements");
    print(checklist, "lines of the checklist");
    if (unknown.length > 0) console.log(`\nIn test names, but in neither document: ${unknown.join(" ")}`);
    if (contradictory.length > 0) console.log(`\nIn test names, but withdrawn: ${contradictory.join(" ")}`);
  }
  process.exitCode = unknown.length + contradictory.length > 0 ? 1 : 0;
} else {
  console.error("There are no test results yet. Run: npm test");
  process.exitCode = 1;
}

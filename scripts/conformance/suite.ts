import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../test/support/cache-folder.ts";
import { installPackages } from "../../test/support/installed-packages.ts";

/** Pinned: the suite is an alpha, and its demands may change with each release. */
const SUITE = "@modelcontextprotocol/conformance";
const SUITE_VERSION = "0.2.0-alpha.12";

const folder = cacheFolder("conformance");
const suite = join(folder, "node_modules", ...SUITE.split("/"));

interface SuiteCheck {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

export interface SuiteFinding {
  readonly scenario: string;
  readonly check: string;
  readonly message: string;
}

export interface SetResult {
  readonly requirements: string;
  readonly scenarios: number;
  readonly passed: number;
  /** Failed checks that the revision requires. */
  readonly failures: readonly SuiteFinding[];
  /** Recommendations that were not followed. */
  readonly warnings: readonly SuiteFinding[];
  /** Findings of informational scenarios: extensions, and later additions. */
  readonly unscored: readonly SuiteFinding[];
  /** Required scenarios that left no result: as bad as a failure. */
  readonly missing: readonly string[];
}

export async function installSuite(): Promise<void> {
  await installPackages("conformance", [`${SUITE}@${SUITE_VERSION}`]);
}

/** Runs everything that a revision of the protocol requires of a server. */
export async function runRequirements(requirements: string, url: string, signal: AbortSignal): Promise<SetResult> {
  const output = emptyOutput(requirements);
  await runSuite(["server", "--url", url, "--requirements", requirements, "--output-dir", output], signal);
  return summarise(requirements, readRequired("server", requirements), readChecks(output));
}

const AUTH = "auth/";
const SCENARIO_MS = 90_000;

/** Runs the login scenarios that a revision requires of a client, in sequence: each starts a gateway. */
export async function runAuthScenarios(requirements: string, client: string, signal: AbortSignal): Promise<SetResult> {
  const output = emptyOutput(`${requirements}-auth`);
  const required = [...readRequired("client", requirements)].filter((name) => name.startsWith(AUTH));
  const command = `${process.execPath} ${client}`;
  for (const scenario of required) {
    const which = ["--scenario", scenario, "--spec-version", requirements, "--timeout", String(SCENARIO_MS)];
    await runSuite(["client", "--command", command, ...which, "--output-dir", output], signal);
  }
  return summarise(`${requirements} auth`, new Set(required), readChecks(output));
}

function emptyOutput(name: string): string {
  const output = join(folder, "results", name);
  rmSync(output, { recursive: true, force: true });
  return output;
}

async function runSuite(args: readonly string[], signal: AbortSignal): Promise<void> {
  const run = spawn(process.execPath, [join(suite, "dist", "index.js"), ...args], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    signal,
  });
  await once(run, "close");
}

/** Reads the scenarios in one of the lists, which are flat. */
function readRequired(list: "server" | "client", requirements: string): Set<string> {
  const yaml = readFileSync(join(suite, "requirements", `${requirements}.yaml`), "utf8");
  const [, scenarios = ""] = new RegExp(`^${list}:\\n((?: {2}- .+\\n)+)`, "m").exec(yaml) ?? [];
  return new Set([...scenarios.matchAll(/- (\S+)/g)].map(([, name = ""]) => name));
}

const RESULT_FILE = /^(?:server-)?(.+?)-\d{4}-\d{2}-\d{2}T[^/]*\/checks\.json$/;

function readChecks(output: string): Map<string, readonly SuiteCheck[]> {
  const files = existsSync(output) ? readdirSync(output, { recursive: true, encoding: "utf8" }) : [];
  return new Map(
    files.flatMap((name) => {
      const [, scenario] = RESULT_FILE.exec(name) ?? [];
      if (scenario === undefined) return [];
      return [[scenario, JSON.parse(readFileSync(join(output, name), "utf8")) as SuiteCheck[]]];
    }),
  );
}

function summarise(
  requirements: string,
  required: ReadonlySet<string>,
  results: ReadonlyMap<string, readonly SuiteCheck[]>,
): SetResult {
  const all = [...results].flatMap(([scenario, checks]) => checks.map((check) => ({ scenario, ...check })));
  const scored = all.filter(({ scenario }) => required.has(scenario));
  const find = (from: typeof all, status: SuiteCheck["status"]): SuiteFinding[] =>
    from
      .filter((check) => check.status === status)
      .map(({ scenario, id, errorMessage = "" }) => ({ scenario, check: id, message: errorMessage }));
  return {
    requirements,
    scenarios: required.size,
    passed: scored.filter(({ status }) => status === "SUCCESS").length,
    failures: find(scored, "FAILURE"),
    warnings: find(scored, "WARNING"),
    unscored: find(
      all.filter(({ scenario }) => !required.has(scenario)),
      "FAILURE",
    ),
    missing: [...required].filter((scenario) => !results.has(scenario)),
  };
}

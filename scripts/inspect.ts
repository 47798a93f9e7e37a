/**
 * Runs the MCP Inspector's command line against PML: over stdio and HTTP, in both eras, its strict check of the tools,
 * a call, and load. Exits with 1 on any failure.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDaemonAddress } from "../src/daemon/daemon-file.ts";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { startGateway } from "../test/support/gateway-home.ts";
import { installPackages } from "../test/support/installed-packages.ts";
import { PML, testEnvironment } from "../test/support/pml.ts";
import { servers } from "../test/support/upstream-servers.ts";
import { writeEvidence } from "./evidence.ts";

const INSPECTOR = "@modelcontextprotocol/inspector";
const VERSION = "2.12.0";
const CALLS = 1_000;
const LIMIT_MS = 120_000;

interface InspectorCheck {
  readonly what: string;
  readonly args: readonly string[];
  /** Returns the finding, or undefined if the check failed. */
  readonly read: (result: InspectorResult) => string | undefined;
}

interface InspectorResult {
  readonly tools?: readonly unknown[];
  readonly content?: readonly { readonly text?: string }[];
  readonly ok?: number;
  readonly throughput?: number;
  readonly latencyMs?: { readonly p50: number; readonly p99: number };
}

const CALL = ["--method", "tools/call", "--tool-name", "everything__echo", "--tool-arg", "message=hi"];

const CHECKS: readonly InspectorCheck[] = [
  {
    what: "tools/list --strict",
    args: ["--method", "tools/list", "--strict"],
    read: ({ tools = [] }) => (tools.length > 10 ? `${tools.length} tools` : undefined),
  },
  {
    what: "tools/call",
    args: CALL,
    read: ({ content }) => (content?.[0]?.text === "Echo: hi" ? "echoed" : undefined),
  },
  {
    what: `--load, ${CALLS} calls`,
    args: [...CALL, "--load", "--load-requests", String(CALLS), "--load-concurrency", "10"],
    read: ({ ok, throughput, latencyMs }) =>
      ok === CALLS ? `${Math.round(throughput ?? 0)}/s, p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms` : undefined,
  },
];

interface InspectorRow {
  readonly transport: string;
  readonly era: string;
  readonly check: string;
  readonly exit: number;
  readonly found: string;
}

async function inspect(
  target: readonly string[],
  { what, args, read }: InspectorCheck,
): Promise<Omit<InspectorRow, "transport" | "era">> {
  const { exit, stdout, stderr } = await run([...target, "--format", "json", ...args]);
  const found = exit === 0 ? read((JSON.parse(stdout) as { result: InspectorResult }).result) : undefined;
  return {
    check: what,
    exit: exit === 0 && found === undefined ? -1 : exit,
    found: found ?? `${stdout}${stderr}`.trim(),
  };
}

function run(args: readonly string[]): Promise<{ exit: number; stdout: string; stderr: string }> {
  const options = { env, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, "--cli", ...args], options, (error, stdout, stderr) => {
      const exit = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ exit, stdout, stderr });
    });
  });
}

const folder = await installPackages("inspector", [`${INSPECTOR}@${VERSION}`]);
const program = join(folder, ".bin", "mcp-inspector");
await using home = await startGateway({ everything: servers.everything });
await home.ready("everything");
const env = testEnvironment({ home: home.path });
const { url, token } = readDaemonAddress(home.path) ?? { url: "", token: "" };
const passed = Object.entries(env).flatMap(([name, value]) =>
  name.startsWith("PML_") ? ["-e", `${name}=${value}`] : [],
);
const targets = {
  stdio: [process.execPath, PML, "mcp", ...passed],
  http: ["--server-url", `${url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${token}`],
};
const rows: InspectorRow[] = [];
for (const [transport, target] of Object.entries(targets)) {
  for (const era of ["legacy", "modern"]) {
    for (const check of CHECKS) {
      rows.push({ transport, era, ...(await inspect([...target, "--protocol-era", era], check)) });
    }
  }
}
console.table(rows);
const failed = rows.some(({ exit }) => exit !== 0);
writeFileSync(cacheFolder("inspect.json"), `${JSON.stringify(rows, null, 2)}\n`);
writeEvidence("inspect", [{ test: "the Inspector [mcp-48]", status: failed ? "failed" : "passed" }]);
process.exitCode = failed ? 1 : 0;

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { registerCleanup } from "./cleanup.ts";
import type { EngineKind } from "./engine.ts";
import type { IndexReport } from "./index-check.ts";
import type { DatabaseFindings } from "./transactions.ts";

const LIMIT_MS = 120_000;

export type Inspection =
  | { readonly opened: true; readonly findings: DatabaseFindings; readonly indexes: IndexReport }
  | { readonly opened: false; readonly reason: string };

export interface InspectOptions {
  readonly home: string;
  readonly ledgerPath: string;
  readonly engine: EngineKind;
}

export async function inspect({ home, ledgerPath, engine }: InspectOptions): Promise<Inspection> {
  const program = join(import.meta.dirname, "inspect.ts");
  const child = spawn(process.execPath, [program, home, ledgerPath, engine], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  using _cleanup = registerCleanup(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  const last = stdout.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !last.startsWith("{")) return { opened: false, reason: describeFailure(code, stderr) };
  return { opened: true, ...(JSON.parse(last) as { findings: DatabaseFindings; indexes: IndexReport }) };
}

/** Node prints an uncaught error below its line of source, which may be minified. */
function describeFailure(code: number | null, stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const message = lines.find((line) => /^(\w*Error|error|RuntimeError)\b.*:/.test(line) && line.length < 1_000);
  return `exit ${code}: ${(message ?? lines.filter(Boolean).at(-1) ?? "").slice(0, 300)}`;
}

/**
 * A stdio MCP server that misbehaves on request. Writes plain lines instead of using an SDK, which would prevent most
 * of it; tests start dozens of these.
 *
 * Flags: --label=x (part of every answer), --never-start (prints the reason and exits), --hang-start (reads and never
 * answers), --hang-list (answers the handshake but no list), --garbage (writes invalid messages and never answers),
 * --stubborn (ignores the end of its input and SIGTERM), --echo=file (definition of the tool echo without its name, as
 * JSON, read at every listing), --methods=file (logs the requested methods there), --mute (does not answer unknown
 * methods), --tools=n (adds n tools).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { splitLines } from "../../src/base/lines.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";

type Arguments = Readonly<Record<string, unknown>>;

interface ChaosMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Arguments;
    readonly requestId?: number | string;
    readonly protocolVersion?: string;
    readonly _meta?: { readonly progressToken?: number | string };
  };
}

interface ChaosCall {
  readonly id: number | string;
  readonly input: Arguments;
  readonly progressToken: number | string | undefined;
}

const INVALID_PARAMS = -32_602;
const METHOD_NOT_FOUND = -32_601;
const EIGHT_MEGABYTES = 8 * 1024 * 1024;

const flags = new Map(process.argv.slice(2).map((word) => word.split("=", 2) as [string, string | undefined]));
const label = flags.get("--label") ?? "chaos";
const calls = new Map<number | string, string>();
const cancelled: string[] = [];
const grown: string[] = [];
const more = Array.from({ length: Number(flags.get("--tools") ?? 0) }, (_, index) => `more-${index + 1}`);
let counter = 0;

function write(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

class Refusal extends Error {}

function text(value: string): Record<string, unknown> {
  return { content: [{ type: "text", text: value }] };
}

const tools: Record<string, (call: ChaosCall) => unknown> = {
  echo: ({ input }) =>
    typeof input["text"] === "string"
      ? text(`${label}: ${input["text"]}`)
      : { ...text(`${label}: "text" must be a string`), isError: true },
  strict: ({ input }) => {
    if (input["number"] !== 1) throw new Refusal(`${label} wants number 1`);
    return text("one");
  },
  "exit-now": () => {
    process.stderr.write("chaos: leaving as asked\n");
    process.exit(17);
  },
  hang: () => new Promise(() => undefined),
  slow: async ({ input, progressToken }) => {
    const steps = 5;
    for (let step = 1; step <= steps; step += 1) {
      await sleep(Number(input["ms"]) / steps);
      if (progressToken === undefined) continue;
      write({ method: "notifications/progress", params: { progressToken, progress: step, total: steps } });
    }
    return text("slow, but here");
  },
  noise: () => {
    const junk = [
      "Server starting...",
      "{",
      "null",
      "[]",
      "{}",
      `{"jsonrpc":"2.0"}`,
      `{"jsonrpc":"2.0","id":{}}`,
      "\u0000",
    ];
    process.stdout.write(
      `${junk.join("\n")}\n\n{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"2.0","id":999999,"result":{}}\n`,
    );
    return text("after the noise");
  },
  big: () => text("ab😀\u2028".repeat(Math.ceil(EIGHT_MEGABYTES / 9))),
  "spawn-child": async ({ input }) => {
    // A child that inherits our output keeps the pipes open after the server has died.
    const child = spawn("sleep", ["1000"], { stdio: input["inherit"] === true ? "inherit" : "ignore" });
    await once(child, "spawn");
    return text(String(child.pid));
  },
  counter: () => text(String((counter += 1))),
  pid: () => text(String(process.pid)),
  env: () => text(JSON.stringify(process.env)),
  cancelled: () => text(JSON.stringify(cancelled)),
  grow: () => {
    grown.push(`grown-${grown.length + 1}`);
    // Notifies twice, as a server that registers several tools does.
    write({ method: "notifications/tools/list_changed" });
    write({ method: "notifications/tools/list_changed" });
    return text(grown.join(" "));
  },
};

function listNames(): string[] {
  return [...Object.keys(tools), ...HOSTILE_NAMES, "listed.twice", ...more, ...grown];
}

async function listTools(): Promise<unknown> {
  if (flags.has("--hang-list")) await new Promise(() => undefined);
  const echo = flags.get("--echo");
  const described = echo === undefined ? {} : (JSON.parse(readFileSync(echo, "utf8")) as Record<string, unknown>);
  return {
    tools: listNames().map((name) => ({
      name,
      inputSchema: { type: "object" },
      ...(name === "echo" ? described : {}),
    })),
  };
}

async function call(name: string, input: ChaosCall): Promise<unknown> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool !== undefined) return tool(input);
  if (!listNames().includes(name)) throw new Refusal(`${label} has no tool ${name}`);
  return text(`${label}/${name}`);
}

function initialize(protocolVersion: string): Record<string, unknown> {
  return {
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "chaos", version: "1.0.0" },
  };
}

async function answer({ id = 0, method, params = {} }: ChaosMessage): Promise<unknown> {
  if (method === "initialize") return initialize(params.protocolVersion ?? "2025-11-25");
  if (method === "ping") return {};
  if (method === "tools/list") return listTools();
  if (method !== "tools/call") throw new Error("Method not found");
  const name = params.name ?? "";
  calls.set(id, name);
  return call(name, { id, input: params.arguments ?? {}, progressToken: params._meta?.progressToken });
}

async function receive(message: ChaosMessage): Promise<void> {
  const { id, method, params } = message;
  if (method === "notifications/cancelled") cancelled.push(calls.get(params?.requestId ?? "") ?? "unknown");
  if (id === undefined || method === undefined) return;
  try {
    write({ id, result: await answer(message) });
  } catch (error) {
    const code = error instanceof Refusal ? INVALID_PARAMS : METHOD_NOT_FOUND;
    write({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
  }
}

if (flags.has("--never-start")) {
  process.stderr.write("chaos: a first line\nchaos: the licence has expired\n");
  process.exit(3);
}
if (flags.has("--stubborn")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
if (flags.has("--hang-start")) process.stderr.write("chaos: waiting for a database\n");
if (flags.has("--garbage")) process.stdout.write("Welcome to chaos!\n<html></html>\n");
const notes = flags.get("--methods");
const isIgnored = ({ method }: ChaosMessage): boolean =>
  flags.has("--hang-start") || flags.has("--garbage") || (flags.has("--mute") && method === "server/discover");
for await (const line of splitLines(process.stdin.setEncoding("utf8"))) {
  const message = JSON.parse(line) as ChaosMessage;
  if (notes !== undefined) appendFileSync(notes, `${message.method}\n`);
  if (!isIgnored(message)) void receive(message);
}
if (!flags.has("--stubborn")) process.exit(0);

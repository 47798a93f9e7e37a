import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Tool } from "@modelcontextprotocol/client";
import { bundledServers } from "../../config/bundled-servers.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { ensureDaemon } from "../../daemon/start-daemon.ts";
import type { Command } from "../command.ts";
import { withGateway } from "../gateway-client.ts";
import type { Terminal } from "../terminal.ts";

const PROGRAM = `const { content } = await mcp.filesystem.list_directory({ path: args.dir });
const files = content.split("\\n").filter((line) => line.endsWith(".csv")).map((line) => line.replace("[FILE] ", ""));
const texts = await Promise.all(
  files.map((file) => mcp.filesystem.read_text_file({ path: \`\${args.dir}/\${file}\` })),
);
const rows = texts.flatMap(({ content }) => content.trim().split("\\n").slice(1));
const total = rows.reduce((sum, row) => sum + Number(row.split(",")[1]), 0);
if (total > 0) {
  await mcp.memory.create_entities({
    entities: [{ name: "sales", entityType: "total", observations: [String(total)] }],
  });
}
return { files: files.length, total };`;

const INTENT = "sum the sales of all CSV files in a folder";
const CHARACTERS_PER_TOKEN = 4;

export const demo: Command = {
  name: "demo",
  group: "Start",
  summary: "a tour of PML, offline, in a folder that is gone afterwards",
  examples: ["pml demo", "pml demo --keep"],
  options: [{ flags: "--keep", description: "leave the folder and the daemon there, to look at" }],
  async run({ options, terminal }) {
    const started = performance.now();
    const home = mkdtempSync(join(tmpdir(), "pml-demo-"));
    const keep = options["keep"] === true;
    const folders = prepare(home);
    const stage = new Stage(terminal);
    const daemon = await ensureDaemon({ home, serveArguments: ["--port", "0"] });
    try {
      await showServers(stage, daemon);
      const learned = await withGateway(daemon, async (client) => {
        const name = await showNaming(stage, client, await showLearning(stage, client, folders.first));
        await showReuse(stage, client, { name, dir: folders.second });
        await showSavings(stage, client);
        return name;
      });
      stage.say(`\nDone in ${elapsed(started)}. Nothing left this machine.`);
      return { data: { ...stage.figures, capability: learned }, text: stage.text, notes: [farewell(home, keep)] };
    } finally {
      if (!keep) {
        await callDaemon(daemon, "POST", "/api/shutdown");
        rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      }
    }
  },
};

/** What is said, all of it at the end: every figure in it was measured. */
class Stage {
  readonly figures: Record<string, unknown> = {};
  text = "";
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  say(line: string): void {
    this.text += `${line}\n`;
  }

  title(line: string): void {
    this.say(`\n${this.#terminal.colors.bold(line)}`);
  }

  fact(what: string, value: string): void {
    this.say(`  ${this.#terminal.colors.green("✓")} ${what.padEnd(28)}${value}`);
  }
}

/** A configuration of its own, and two folders with something to count. */
function prepare(home: string): { readonly first: string; readonly second: string } {
  const scratch = join(home, "scratch");
  const [first, second] = [join(scratch, "spring"), join(scratch, "autumn")];
  for (const folder of [first, second]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(first, "march.csv"), "item,amount\nlamp,410.50\ndesk,802.10\n");
  writeFileSync(join(first, "april.csv"), "item,amount\nchair,400\n");
  for (const [month, amount] of [
    ["september", 120.5],
    ["october", 990],
    ["november", 1404],
  ] as const)
    writeFileSync(join(second, `${month}.csv`), `item,amount\nlamp,${amount}\n`);
  const config = {
    mcpServers: bundledServers(home),
    // The demo's own servers reach nothing but the demo's own folder.
    permissions: { allow: ["filesystem:*", "memory:*"] },
  };
  writeFileSync(join(home, "pml.json"), JSON.stringify(config));
  return { first, second };
}

interface ServerRow {
  readonly name: string;
  readonly state: string;
  readonly tools?: number;
}

const SERVERS_LIMIT_MS = 30_000;

async function showServers(stage: Stage, daemon: DaemonAddress): Promise<void> {
  stage.title("1  Start two MCP servers that ship with PML");
  const started = performance.now();
  const shown = new Set<string>();
  while (shown.size < 2 && performance.now() - started < SERVERS_LIMIT_MS) {
    for (const { name, state, tools } of await callDaemon<ServerRow[]>(daemon, "GET", "/api/servers")) {
      if (state !== "ready" || shown.has(name)) continue;
      shown.add(name);
      stage.fact(name, `${tools ?? 0} tools · ${elapsed(started)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

interface Executed {
  readonly status: string;
  readonly result: unknown;
  readonly error?: { readonly message: string };
  readonly capabilityName: string;
  readonly executionTimeMs: number;
  readonly dag: { readonly nodes: readonly { readonly type: string }[] };
  readonly tasks: readonly unknown[];
}

async function callTool<T>(client: Client, name: string, input: Record<string, unknown>): Promise<T> {
  const { content } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return JSON.parse(first?.type === "text" ? first.text : "{}") as T;
}

async function execute(client: Client, request: Record<string, unknown>): Promise<Executed> {
  const executed = await callTool<Executed>(client, "pml_execute", { intent: INTENT, ...request });
  if (executed.status !== "success") throw new Error(executed.error?.message ?? executed.status);
  return executed;
}

async function showLearning(stage: Stage, client: Client, dir: string): Promise<string> {
  stage.title("2  An agent sends code instead of several tool calls");
  for (const line of PROGRAM.split("\n").slice(0, 3)) stage.say(`    ${line}`);
  stage.say("    …");
  const executed = await execute(client, { code: PROGRAM, args: { dir } });
  stage.fact("analysed before running", describeStructure(executed));
  stage.fact("ran in the sandbox", `${executed.tasks.length} tool calls · ${ms(executed.executionTimeMs)}`);
  stage.fact("result", JSON.stringify(executed.result));
  stage.fact(`learned ${executed.capabilityName}`, "no name yet");
  stage.figures["first"] = executed.result;
  return executed.capabilityName;
}

interface Named {
  readonly applied: readonly { readonly oldName: string; readonly newName: string }[];
}
interface Suggested {
  readonly suggestions: readonly {
    readonly currentName: string;
    readonly suggestedName: string;
    readonly confidence: number;
  }[];
}

async function showNaming(stage: Stage, client: Client, unnamed: string): Promise<string> {
  stage.title("3  Give it a name");
  const curate = "pml_curate_capabilities";
  const { suggestions } = await callTool<Suggested>(client, curate, { strategy: "suggest" });
  const suggestion = suggestions.find(({ currentName }) => currentName === unnamed);
  if (suggestion === undefined) throw new Error(`no name was found for ${unnamed}`);
  const { suggestedName: name, confidence } = suggestion;
  const renames = [{ id: unnamed, name }];
  const { applied } = await callTool<Named>(client, curate, { strategy: "apply", renames });
  if (applied[0]?.newName !== name) throw new Error(`${unnamed} could not be named ${name}`);
  stage.fact(name, `suggested from its tools and intent · ${confidence.toFixed(2)}`);
  stage.figures["confidence"] = confidence;
  return name;
}

async function showReuse(
  stage: Stage,
  client: Client,
  { name, dir }: { readonly name: string; readonly dir: string },
): Promise<void> {
  stage.title("4  Another agent, other data: call it by name");
  const executed = await execute(client, { capability: name, args: { dir } });
  stage.fact(`capabilities.${name.replace(":", ".")}`, `${ms(executed.executionTimeMs)}, 0 lines of code written`);
  stage.fact("result", JSON.stringify(executed.result));
  stage.figures["second"] = executed.result;
}

async function showSavings(stage: Stage, client: Client): Promise<void> {
  stage.title("5  What that saves an agent");
  const { tools } = await client.listTools();
  const own = tools.filter(({ name }) => name.startsWith("pml_"));
  const servers = tools.filter((tool) => !own.includes(tool) && !tool.name.startsWith("cap__"));
  const [all, few] = [countTokens(servers), countTokens(own)];
  stage.say(`    every tool listed to the agent   ${servers.length} tools   about ${all} tokens`);
  stage.say(`    PML's own tools only             ${own.length} tools   about ${few} tokens   ${percent(few, all)}`);
  stage.figures["tokens"] = { all, own: few };
}

function countTokens(tools: readonly Tool[]): number {
  const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return Math.round(JSON.stringify(listed).length / CHARACTERS_PER_TOKEN);
}

function percent(part: number, whole: number): string {
  const change = Math.round((part / whole - 1) * 100);
  return `${change > 0 ? "+" : ""}${change}%`;
}

function describeStructure({ dag }: Executed): string {
  const count = (type: string): number => dag.nodes.filter((node) => node.type === type).length;
  return `${dag.nodes.length} steps: ${count("task")} tool calls, ${count("decision")} decisions, ${count("loop")} loops, ${count("fork")} forks`;
}

function farewell(home: string, keep: boolean): string {
  return keep
    ? `It is all in ${home}: PML_HOME=${home} pml status`
    : "Next: pml add <your server>, pml connect <your client>";
}

function elapsed(since: number): string {
  return ms(performance.now() - since);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

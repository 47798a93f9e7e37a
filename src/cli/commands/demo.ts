import { routes } from "../../contract/routes.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Tool } from "@modelcontextprotocol/client";
import type { ExecuteAnswer, ExecuteRequest } from "../../contract/execute.ts";
import { PmlClient } from "../../sdk/pml-client.ts";
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
        const pml = new PmlClient(client);
        const name = await showNaming(stage, pml, await showLearning(stage, pml, folders.first));
        await showReuse(stage, pml, { name, dir: folders.second });
        await showSavings(stage, client);
        return name;
      });
      stage.say(`\nDone in ${elapsed(started)}. Nothing left this machine.`);
      return { data: { ...stage.figures, capability: learned }, text: stage.text, notes: [farewell(home, keep)] };
    } finally {
      if (!keep) {
        await callDaemon(daemon, routes.shutDown);
        rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      }
    }
  },
};

/** Collects the text, which is printed at the end: every figure in it was measured. */
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

/** Writes a configuration of its own, and two folders with something to count. */
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
    // The servers of the demo reach nothing but its own folder.
    permissions: { allow: ["filesystem:*", "memory:*"] },
  };
  writeFileSync(join(home, "pml.json"), JSON.stringify(config));
  return { first, second };
}

const SERVERS_LIMIT_MS = 30_000;

async function showServers(stage: Stage, daemon: DaemonAddress): Promise<void> {
  stage.title("1  Start two MCP servers that ship with PML");
  const started = performance.now();
  const shown = new Set<string>();
  while (shown.size < 2 && performance.now() - started < SERVERS_LIMIT_MS) {
    for (const { name, state, tools } of await callDaemon(daemon, routes.listServers)) {
      if (state !== "ready" || shown.has(name)) continue;
      shown.add(name);
      stage.fact(name, `${tools ?? 0} tools · ${elapsed(started)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

type Executed = Extract<ExecuteAnswer, { readonly status: "success" }>;

async function execute(pml: PmlClient, request: Omit<ExecuteRequest, "intent">): Promise<Executed> {
  const executed = await pml.execute({ intent: INTENT, ...request });
  if (executed.status === "success") return executed;
  throw new Error(executed.status === "error" ? executed.error.message : executed.status);
}

async function showLearning(stage: Stage, pml: PmlClient, dir: string): Promise<string> {
  stage.title("2  An agent sends code instead of several tool calls");
  for (const line of PROGRAM.split("\n").slice(0, 3)) stage.say(`    ${line}`);
  stage.say("    …");
  const executed = await execute(pml, { code: PROGRAM, args: { dir } });
  stage.fact("analysed before running", describeStructure(executed));
  stage.fact("ran in the sandbox", `${executed.tasks?.length ?? 0} tool calls · ${ms(executed.executionTimeMs)}`);
  stage.fact("result", JSON.stringify(executed.result));
  const { capabilityName = "", result } = executed;
  stage.fact(`learned ${capabilityName}`, "no name yet");
  stage.figures["first"] = result;
  return capabilityName;
}

async function showNaming(stage: Stage, pml: PmlClient, unnamed: string): Promise<string> {
  stage.title("3  Give it a name");
  const proposed = await pml.ask("pml_curate_capabilities", { strategy: "suggest" });
  const suggestions = proposed.strategy === "suggest" ? proposed.suggestions : [];
  const suggestion = suggestions.find(({ currentName }) => currentName === unnamed);
  if (suggestion === undefined) throw new Error(`no name was found for ${unnamed}`);
  const { suggestedName: name, confidence } = suggestion;
  const renames = [{ id: unnamed, name }];
  const named = await pml.ask("pml_curate_capabilities", { strategy: "apply", renames });
  if (named.strategy === "suggest" || named.applied[0]?.newName !== name)
    throw new Error(`${unnamed} could not be named ${name}`);
  stage.fact(name, `suggested from its tools and intent · ${confidence.toFixed(2)}`);
  stage.figures["confidence"] = confidence;
  return name;
}

async function showReuse(
  stage: Stage,
  pml: PmlClient,
  { name, dir }: { readonly name: string; readonly dir: string },
): Promise<void> {
  stage.title("4  Another agent, other data: call it by name");
  const executed = await execute(pml, { capability: name, args: { dir } });
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
  const { nodes = [] } = dag ?? {};
  const count = (type: string): number => nodes.filter((node) => node["type"] === type).length;
  return `${nodes.length} steps: ${count("task")} tool calls, ${count("decision")} decisions, ${count("loop")} loops, ${count("fork")} forks`;
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

/**
 * A stdio MCP server that tells everybody the secrets it was given: in texts of its lists, results, errors, messages and on
 * stderr. `--file=` gets a line for each call. The tool `slow` answers once the file `--go=` exists.
 */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { splitLines } from "../../src/base/lines.ts";

interface LeakyMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string; readonly arguments?: unknown };
}

const { values } = parseArgs({
  options: { file: { type: "string" }, go: { type: "string" }, "api-key": { type: "string" } },
});
/** The variables whose values it tells. */
const told = Object.entries(process.env)
  .filter(([name]) => name.startsWith("LEAKY_"))
  .map(([name, value]) => `${name}=${value}`)
  .join(" ");
const encoded = Buffer.from(process.env["LEAKY_TOKEN"] ?? "").toString("base64");
const spelled = [...(process.env["LEAKY_TOKEN"] ?? "")].map(
  (letter) => String.raw`\u00${letter.charCodeAt(0).toString(16)}`,
);

const anything = { type: "object", additionalProperties: true };
const tools = [
  { name: "echo", inputSchema: anything, annotations: { title: `echo ${told}`, readOnlyHint: true } },
  {
    name: "log_in",
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        pin: { type: "string", format: "password" },
        answer: { type: "object", properties: { word: { type: "string", writeOnly: true } } },
        note: { type: "string", default: told },
      },
    },
  },
  { name: `tell_${process.env["LEAKY_TOKEN"]}`, inputSchema: anything },
  { name: "environment", inputSchema: anything, annotations: { readOnlyHint: true } },
  { name: "fail", inputSchema: anything, annotations: { readOnlyHint: true } },
  { name: "slow", inputSchema: anything, annotations: { readOnlyHint: true } },
  { name: "write", inputSchema: anything, annotations: { readOnlyHint: false, destructiveHint: false } },
].map((tool) => ({ description: `Tells ${told}`, ...tool }));

const texts: Readonly<Record<string, () => string>> = {
  environment: () => `${told} ${encoded} ${spelled.join("")} ${encodeURIComponent(told)}`,
  fail: () => `failed with ${told}`,
};

const resources = [
  { uri: "leaky://env", name: "env", title: told, description: `Tells ${told}` },
  { uri: `leaky://env?token=${process.env["LEAKY_TOKEN"]}`, name: "with a token" },
];

async function call({ name = "", arguments: args }: NonNullable<LeakyMessage["params"]>): Promise<unknown> {
  appendFileSync(values.file ?? "", `${name} ${JSON.stringify(args)}\n`);
  process.stderr.write(`called ${name} with ${told}\n`);
  send({ method: "notifications/message", params: { level: "error", data: `called with ${told}` } });
  if (name === "slow") await waitForFile(values.go ?? "");
  return {
    content: [{ type: "text", text: texts[name]?.() ?? JSON.stringify(args) }],
    ...(name === "fail" ? { isError: true } : {}),
  };
}

async function waitForFile(path: string): Promise<void> {
  while (!existsSync(path)) await sleep(50);
}

async function answer({ method = "", params = {} }: LeakyMessage): Promise<unknown> {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
        serverInfo: { name: "leaky", version: "1.0.0", title: told },
        instructions: `Use ${told}`,
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return call(params);
    case "resources/list":
      return { resources };
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "leaky://{name}", name: "any", description: told }] };
    case "resources/read":
      return { contents: [{ uri: "leaky://env", text: told }] };
    case "prompts/list":
      return { prompts: [{ name: "tell", description: told }] };
    default:
      return {};
  }
}

function send(message: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

process.stderr.write(`started with ${told}\n`);
process.stdout.write(`no message but ${told}\n`);
for await (const line of splitLines(process.stdin.setEncoding("utf8"))) {
  const message = JSON.parse(line) as LeakyMessage;
  if (message.id !== undefined) void answer(message).then((result) => send({ id: message.id, result }));
}

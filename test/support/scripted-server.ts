/**
 * A stdio MCP server with byte-exact answers from a file: `{ "tools": [...], "results": { name: … } }`, and with
 * `prompts`, `resources`, `templates` and `instructions` where the file has them.
 */
import { readFileSync } from "node:fs";
import { splitLines } from "../../src/base/lines.ts";

interface ScriptedMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

const script = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  readonly tools: readonly unknown[];
  readonly results: Readonly<Record<string, unknown>>;
  readonly prompts?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly templates?: readonly unknown[];
  readonly instructions?: string;
};

const LISTS: Readonly<Record<string, unknown>> = {
  "tools/list": { tools: script.tools },
  "prompts/list": { prompts: script.prompts },
  "resources/list": { resources: script.resources ?? [] },
  "resources/templates/list": { resourceTemplates: script.templates ?? [] },
};

function answer({ method = "", params = {} }: ScriptedMessage): unknown {
  if (method === "initialize") {
    const { protocolVersion } = params;
    const { instructions, prompts, resources, templates } = script;
    const capabilities = {
      tools: {},
      ...(prompts === undefined ? {} : { prompts: {} }),
      ...((resources ?? templates) === undefined ? {} : { resources: {} }),
    };
    return { protocolVersion, capabilities, serverInfo: { name: "scripted", version: "1.0.0" }, instructions };
  }
  return method === "tools/call" ? script.results[params.name ?? ""] : (LISTS[method] ?? {});
}

for await (const line of splitLines(process.stdin.setEncoding("utf8"))) {
  const message = JSON.parse(line) as ScriptedMessage;
  if (message.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) })}\n`);
}

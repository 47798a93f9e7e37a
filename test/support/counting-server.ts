/**
 * An MCP server that logs every call to a file before it does anything, so that a test can count the effects. `--file=`
 * is the file; there are tools of every effect, and `--words=` ends their descriptions.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const file = process.argv.find((word) => word.startsWith("--file="))?.slice("--file=".length);
if (file === undefined) throw new Error("--file= is missing");

/** Changes the definitions of the tools under the same names. */
const words = process.argv.find((word) => word.startsWith("--words="))?.slice("--words=".length) ?? "";

const note = (tool: string, key: string): number => {
  appendFileSync(file, `${tool} ${key}\n`);
  return readFileSync(file, "utf8").split("\n").length - 1;
};

const server = new McpServer({ name: "counting", version: "1.0.0" });
const key = z.object({ key: z.string() });
const number = z.object({ count: z.number() });

const text = (value: unknown) => ({
  content: [{ type: "text" as const, text: JSON.stringify(value) }],
  structuredContent: value as Record<string, unknown>,
});

for (const [name, annotations] of [
  ["read", { readOnlyHint: true }],
  ["put", { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
  ["add", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
  ["drop", { readOnlyHint: false, destructiveHint: true }],
] as const) {
  server.registerTool(
    name,
    { description: `Note a ${name}.${words}`, inputSchema: key, outputSchema: number, annotations },
    ({ key: value }) => text({ count: note(name, value) }),
  );
}

server.registerTool(
  "list",
  {
    description: "List numbers from 0.",
    inputSchema: z.object({ length: z.number() }),
    outputSchema: z.object({ items: z.array(z.number()) }),
    annotations: { readOnlyHint: true },
  },
  ({ length }) => text({ items: Array.from({ length }, (_, index) => index) }),
);

server.registerTool(
  "fail",
  { description: "Fail.", inputSchema: key, annotations: { readOnlyHint: true } },
  ({ key: value }) => ({ content: [{ type: "text", text: `no ${value}` }], isError: true }),
);

let underWay = 0;
server.registerTool(
  "slow",
  { description: "Wait.", inputSchema: z.object({ ms: z.number() }), annotations: { readOnlyHint: true } },
  async ({ ms }) => {
    underWay += 1;
    await sleep(ms);
    const together = underWay--;
    return text({ waited: ms, together });
  },
);

await server.connect(new StdioServerTransport());

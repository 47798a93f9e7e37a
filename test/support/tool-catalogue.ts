import type { ToolFacts, ToolCatalogue } from "../../src/analysis/structure.ts";
import type { JsonSchema } from "../../src/base/json.ts";

const text = { type: "string" };

function object(properties: JsonSchema, required: readonly string[] = Object.keys(properties)): JsonSchema {
  return { type: "object", properties, required };
}

const tools: readonly ToolFacts[] = [
  {
    id: "fs:read",
    inputSchema: object({ path: { type: "string", description: "File to read" }, encoding: text }, ["path"]),
    outputSchema: object({ content: text, size: { type: "integer" } }),
  },
  { id: "fs:write", inputSchema: object({ path: text, content: text }) },
  {
    id: "fs:list",
    inputSchema: object({ path: text }),
    outputSchema: object({ files: { type: "array", items: text } }),
  },
  { id: "json:parse", inputSchema: object({ json: text }), outputSchema: object({ data: { type: "object" } }) },
  {
    id: "http:post",
    inputSchema: object({ url: text, body: { type: "object" }, retries: { type: "integer" } }, ["url", "body"]),
    outputSchema: object({ status: { type: "integer" } }),
  },
  { id: "my-server:do_it", inputSchema: object({ times: { type: "integer", minimum: 1 } }) },
];

/** Also resolves names in identifier spelling. */
export const sampleCatalogue: ToolCatalogue = {
  findTool: (server, tool) =>
    tools.find(({ id }) => id === `${server}:${tool}` || toIdentifiers(id) === `${server}:${tool}`),
};

function toIdentifiers(id: string): string {
  return id.replaceAll("-", "_");
}

import { parseToolId } from "../catalogue/tool-id.ts";
import type { JsonSchema } from "../base/json.ts";
import { isSchema, objectParts, toTypeText } from "./schema-type.ts";

export interface CallSchemas {
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
}

/** Declares a tool as programs call it: `mcp.fs.read(args: { path: string }): Promise<{ content: string }>`. */
export function declareTool(id: string, schemas: CallSchemas): string {
  const { server, tool } = parseToolId(id);
  return `mcp${access(server)}${access(tool)}${signature(schemas)}`;
}

/**
 * Declares a capability as programs call it: `capabilities.fs.read_json(args?: { path?: string }): Promise<unknown>`.
 */
export function declareCapability(name: string, schemas: CallSchemas): string {
  const parts = name.split(":").map(access).join("");
  return `capabilities${parts}${signature(schemas)}`;
}

function signature({ inputSchema = {}, outputSchema }: CallSchemas): string {
  const { properties, required } = objectParts(inputSchema);
  const optional = required.size === 0 ? "?" : "";
  const given = Object.keys(properties).length === 0 && isClosed(inputSchema) ? "" : `args${optional}: `;
  const args = given === "" ? "" : `${given}${toTypeText(inputSchema)}`;
  return `(${args}): Promise<${outputSchema === undefined ? "unknown" : toTypeText(outputSchema)}>`;
}

function isClosed(schema: JsonSchema): boolean {
  return schema["additionalProperties"] !== true && !isSchema(schema["additionalProperties"]);
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Property access, in brackets if the name is not an identifier. */
function access(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

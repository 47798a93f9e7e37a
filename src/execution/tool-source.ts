import type { ArgumentsStructure, ArgumentValue, StaticStructure, ToolFacts } from "../analysis/structure.ts";
import type { PreparedSource } from "../registry/capability.ts";
import { contentHash } from "../base/content-hash.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { Secrets } from "../secrets/secrets.ts";

/** A tool with preset arguments, to be used as a capability. */
export interface PresetTool {
  readonly tool: string;
  readonly defaults: JsonObject;
}

/** Prepares a tool as a capability. Secrets among the defaults are dropped. */
export function describeToolSource(
  { id, inputSchema = {} }: ToolFacts,
  wanted: JsonObject,
  secrets: Secrets,
): PreparedSource {
  const own = new RunSecrets(secrets);
  own.learn(wanted, inputSchema);
  const defaultArgs = withoutSecrets(wanted, own);
  const hasDefaults = Object.keys(defaultArgs).length > 0;
  const source = { type: "tool", toolId: id, ...(hasDefaults ? { defaultArgs } : {}) } as const;
  return {
    source,
    sourceHash: contentHash(source),
    parameters: withDefaults(inputSchema, defaultArgs),
    structure: structureOf(id, inputSchema, defaultArgs),
    toolsUsed: [id],
    calls: [],
  };
}

function withoutSecrets(args: JsonObject, secrets: RunSecrets): JsonObject {
  const kept = secrets.hide(args);
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => kept[name] === value));
}

function withDefaults(schema: JsonSchema, defaults: JsonObject): JsonSchema {
  const properties = propertiesOf(schema);
  const given = Object.entries(defaults).map(([name, value]) => [name, { ...properties[name], default: value }]);
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly string[]) : [];
  return {
    ...schema,
    type: "object",
    properties: { ...properties, ...Object.fromEntries(given) },
    required: required.filter((name) => !Object.hasOwn(defaults, name)),
  };
}

function structureOf(tool: string, schema: JsonSchema, defaults: JsonObject): StaticStructure {
  const names = new Set([...Object.keys(propertiesOf(schema)), ...Object.keys(defaults)]);
  const given: ArgumentsStructure = Object.fromEntries(
    [...names].map((name): [string, ArgumentValue] => {
      const value = defaults[name];
      return [name, value === undefined ? { type: "parameter", parameterName: name } : { type: "literal", value }];
    }),
  );
  const range = { start: 0, end: 0, line: 0, column: 0 };
  return { nodes: [{ id: "n1", type: "task", tool, label: tool, range, arguments: given }], edges: [] };
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonObject>> {
  return (schema["properties"] ?? {}) as Record<string, JsonObject>;
}

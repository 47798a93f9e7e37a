import { PmlError } from "../base/errors.ts";
import type { CommandOption, OptionValues } from "./command.ts";

export const argumentOptions: readonly CommandOption[] = [
  {
    flags: "--arg <name=value...>",
    description: "an argument; it stays text unless a number or boolean is wanted",
  },
  { flags: "--args-json <json>", description: "all arguments as one JSON object" },
];

/** Reads the arguments of the command line, converted to the types of the schema. */
export function readArguments(
  options: OptionValues,
  schema: { readonly properties?: unknown } = {},
): Record<string, unknown> {
  const fromJson = options["argsJson"] === undefined ? {} : parseObject(String(options["argsJson"]));
  const words = Array.isArray(options["arg"]) ? options["arg"] : [];
  const properties = (schema.properties ?? {}) as Record<string, { type?: unknown }>;
  const pairs = words.map((word): [string, unknown] => {
    const at = word.indexOf("=");
    if (at < 1)
      throw new PmlError("usage", `--arg ${word} is not name=value`, { hint: "For example: --arg path=/tmp" });
    const name = word.slice(0, at);
    return [name, convert(word.slice(at + 1), properties[name]?.type)];
  });
  return { ...fromJson, ...Object.fromEntries(pairs) };
}

/** Converts to the type that the schema names; without one a zip code stays text. */
function convert(text: string, type: unknown): unknown {
  if (Array.isArray(type)) return convertToAny(text, type);
  if (type === "number" || type === "integer") return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (type === "array" || type === "object") return parseJson(text) ?? text;
  return text;
}

/** Converts to a list or an object if the text is one; other text stays as it is where the schema allows text. */
function convertToAny(text: string, types: readonly unknown[]): unknown {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (parsed !== undefined && (types.includes("array") || types.includes("object"))) return parsed;
  return types.includes("string") ? text : convert(text, types[0]);
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new PmlError("usage", "--args-json must be a JSON object", {
    hint: `For example: --args-json '{"path":"/tmp"}'`,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

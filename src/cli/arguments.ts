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
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes("array") || types.includes("object")) {
    const parsed = parseJson(text);
    return typeof parsed === "object" && parsed !== null ? parsed : types.length === 1 ? (parsed ?? text) : text;
  }
  if (types.includes("string")) return text;
  if (types.includes("number") || types.includes("integer")) return Number.isNaN(Number(text)) ? text : Number(text);
  if (types.includes("boolean")) return text === "true" ? true : text === "false" ? false : text;
  return text;
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

import { parseToolId } from "../catalogue/tool-id.ts";
import { isObject, type JsonSchema } from "../base/json.ts";

/** A field of a result with the concepts its name may stand for. */
export interface OutputField {
  /** `content`, `issue.id`, `items[0].id`; `$` for the whole result. */
  readonly path: string;
  readonly concepts: ReadonlySet<string>;
}

/** Names that different authors give to the same thing. Everyday words only: domain terms must match literally. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["content", "contents", "text", "body", "json", "data", "payload", "source", "markdown", "html"],
  ["path", "file", "filename", "file path", "filepath", "file name"],
  ["url", "uri", "href", "link", "address"],
  ["directory", "folder", "dir"],
  ["query", "search", "q", "search query"],
  ["email", "email address", "mail"],
  ["title", "subject", "summary", "heading"],
  ["repo", "repository"],
  ["message", "comment", "note"],
];
const CONCEPT_OF = new Map(SYNONYMS.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const)));

/** Names that mean nothing without their owner: an issue's `id` is not a user's. */
const VAGUE = new Set(["id", "key", "number", "name", "type", "status", "value", "result", "count", "index", "slug"]);

/** Canonical word for a field name. */
function conceptOf(field: string): string {
  const words = splitWords(field).join(" ");
  return CONCEPT_OF.get(words) ?? words;
}

/** Lists fields of a result, two levels deep, including those of list items. */
export function outputFields(tool: string, schema: JsonSchema): OutputField[] {
  if (schema["type"] === "string") return [{ path: "$", concepts: new Set([conceptOf("text")]) }];
  const nouns = splitWords(parseToolId(tool).tool).slice(1);
  return fieldsAt(schema, { prefix: "", owners: nouns, levels: 2 });
}

interface FieldContext {
  readonly prefix: string;
  /** Words that may own a vague field here. */
  readonly owners: readonly string[];
  readonly levels: number;
}

function fieldsAt(schema: JsonSchema, context: FieldContext): OutputField[] {
  const properties = schema["properties"];
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = `${context.prefix}${name}`;
    const own = { path, concepts: conceptsOf(name, context.owners) };
    const [inner, prefix] = isObject(property) ? innerOf(property, path) : [undefined, ""];
    const owners = splitWords(name).slice(-1);
    const deeper =
      inner === undefined || context.levels <= 1 ? [] : fieldsAt(inner, { prefix, owners, levels: context.levels - 1 });
    return [own, ...deeper];
  });
}

/** The first item stands for the whole list. */
function innerOf(property: JsonSchema, path: string): [JsonSchema | undefined, string] {
  const { items } = property as { items?: unknown };
  return isObject(items) ? [items, `${path}[0].`] : [property, `${path}.`];
}

function conceptsOf(name: string, owners: readonly string[]): ReadonlySet<string> {
  const concept = conceptOf(name);
  const owned = owners.map((owner) => conceptOf(`${owner} ${name}`));
  return new Set(VAGUE.has(concept) ? owned : [concept, ...owned]);
}

/** Concepts of an input field; a vague one needs an owner as well. */
export function inputConcepts(tool: string, field: string): ReadonlySet<string> {
  const nouns = splitWords(parseToolId(tool).tool).slice(1);
  return conceptsOf(field, VAGUE.has(conceptOf(field)) ? nouns : []);
}

/** Splits and singularises: `issueNumbers` and `issue_number` give the same words. */
function splitWords(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")
    .map(singular);
}

function singular(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  return /[^s]s$/.test(word) && word.length > 3 && !/(?:us|is)$/.test(word) ? word.slice(0, -1) : word;
}

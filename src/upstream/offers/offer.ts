import type {
  Implementation,
  Prompt,
  Resource,
  ResourceTemplateType,
  ServerCapabilities,
  Tool,
} from "@modelcontextprotocol/client";
import { isObject } from "../../base/json.ts";
import { stripInvisible } from "../../base/visible.ts";
import { checkEntries, ENTRY_KINDS } from "./usable-entries.ts";

/** The complete offer of a server, verbatim but for invisible characters in its texts. */
export interface Offer {
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly prompts: readonly Prompt[];
  /** Entries that are not offered because they are malformed, a line each. */
  readonly leftOut?: readonly string[];
}

/** Further malformed entries are only counted. */
const MOST_LEFT_OUT = 20;

/**
 * Leaves out malformed entries and the second of two with the same name, since only one can be called by it, and removes
 * invisible characters from texts: people and agents read them, and must read the same.
 */
export function cleanOffer(offer: Offer): Offer {
  const { leftOut: known = [], serverInfo, instructions } = offer;
  const tools = checkEntries(offer.tools, ENTRY_KINDS.tools);
  const prompts = checkEntries(offer.prompts, ENTRY_KINDS.prompts);
  const resources = checkEntries(offer.resources, ENTRY_KINDS.resources);
  const templates = checkEntries(offer.resourceTemplates, ENTRY_KINDS.resourceTemplates);
  const leftOut = [...known, ...[tools, prompts, resources, templates].flatMap((each) => each.leftOut)];
  return {
    ...offer,
    serverInfo: cleanTexts(serverInfo),
    instructions: instructions === undefined ? undefined : stripInvisible(instructions),
    tools: firstOfEachName(tools.usable).map((each) => cleanTexts(each)),
    prompts: firstOfEachName(prompts.usable).map((each) => cleanTexts(each)),
    resources: resources.usable.map(cleanResource),
    resourceTemplates: templates.usable.map(cleanResource),
    ...(leftOut.length === 0 ? {} : { leftOut: limitLines(leftOut) }),
  };
}

function limitLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LEFT_OUT) return lines;
  return [...lines.slice(0, MOST_LEFT_OUT - 1), `${lines.length - MOST_LEFT_OUT + 1} more`];
}

/** A resource is read by its address, so that its name is a text, too. */
function cleanResource<T>(resource: T): T {
  const cleaned = cleanTexts(resource);
  if (!isObject(cleaned) || typeof cleaned["name"] !== "string") return cleaned;
  return { ...cleaned, name: stripInvisible(cleaned["name"]) };
}

const TEXTS = new Set(["title", "description", "$comment"]);
/** Members whose values are data: changing them would change what a call means. */
const DATA = new Set(["default", "examples", "enum", "const"]);
/** Members of a schema whose keys are names instead of keywords. */
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** Cleans titles and descriptions at any depth, those of schemas included; names, addresses and data stay. */
function cleanTexts<T>(value: T, isMap = false): T {
  if (Array.isArray(value)) return value.map((item: unknown) => cleanTexts(item)) as T;
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (!isMap && DATA.has(key)) return [key, item];
    if (!isMap && TEXTS.has(key) && typeof item === "string") return [key, stripInvisible(item)];
    return [key, cleanTexts(item, !isMap && MAPS.has(key))];
  });
  return Object.fromEntries(entries) as T;
}

function firstOfEachName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const byName = new Map(items.toReversed().map((item) => [item.name, item]));
  return items.filter((item) => byName.get(item.name) === item);
}

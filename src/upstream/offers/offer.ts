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

/** The complete offer of a server, verbatim but for invisible characters in its texts. */
export interface Offer {
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly prompts: readonly Prompt[];
}

/**
 * Drops the second of two entries with the same name, since only one can be called by it, and removes invisible
 * characters from texts: people and agents read them, and must read the same.
 */
export function cleanOffer(offer: Offer): Offer {
  const { tools, resources, resourceTemplates, prompts, serverInfo, instructions } = offer;
  return {
    ...offer,
    serverInfo: cleanTexts(serverInfo),
    instructions: instructions === undefined ? undefined : stripInvisible(instructions),
    tools: firstOfEachName(tools).map((each) => cleanTexts(each)),
    prompts: firstOfEachName(prompts).map((each) => cleanTexts(each)),
    resources: resources.map(cleanResource),
    resourceTemplates: resourceTemplates.map(cleanResource),
  };
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

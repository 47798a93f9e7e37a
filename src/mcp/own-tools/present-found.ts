import { formatCallName } from "../../catalogue/tool-id.ts";
import type { FoundCapability } from "../../discovery/discovery-store.ts";
import { toTypeText } from "../../learning/schema-type.ts";
import type { Ranked } from "../../discovery/search.ts";
import { capabilityWireName } from "../../catalogue/wire-names.ts";
import type { OfferedTool } from "../../catalogue/surface.ts";
import type { tools } from "../../contract/tools.ts";
import type { Sent } from "../../contract/wire.ts";
import type { DiscoverInput } from "./pml-discover.ts";

export type Found =
  | { readonly kind: "tool"; readonly ranked: Ranked; readonly offered: OfferedTool }
  | { readonly kind: "capability"; readonly ranked: Ranked; readonly capability: FoundCapability };

type Wishes = Pick<DiscoverInput, "detail" | "format" | "include_code">;
type Budget = Wishes & Pick<DiscoverInput, "max_tokens">;
type Presented = Sent<typeof tools.pml_discover.answer>["results"][number];
type Details = Omit<Presented, "type" | "id" | "name" | "callName" | "score" | "author">;

const BRIEF_LENGTH = 80;
const TYPE_LENGTH = 80;
/** The length of a brief answer, unless the caller asks for another. */
const BRIEF_TOKENS = 400;
const PREVIEW_LENGTH = 240;
/** A rate for JSON with names and types. */
const CHARACTERS_PER_TOKEN = 3.5;

/** Describes a result in the detail that was asked for. */
export function presentFound(found: Found, wishes: Wishes): Presented {
  const { document, score, why, warnings } = found.ranked;
  const warned = warnings.length === 0 ? {} : { warnings };
  const callName = found.kind === "tool" ? found.offered.wireName : capabilityWireName(formatCallName(document.name));
  const author = found.kind === "tool" ? undefined : found.capability.author;
  const named = {
    type: found.kind,
    id: document.id,
    name: document.name,
    callName,
    score,
    ...(author === undefined ? {} : { author }),
  };
  const detail = detailOf(wishes);
  if (detail === "names") return { ...named, ...warned };
  if (detail === "brief") {
    const { id: _inTheCallName, ...brief } = named;
    const schema = found.kind === "tool" ? found.offered.definition.inputSchema : found.capability.parameters;
    const takes = shorten(toTypeText(schema), TYPE_LENGTH);
    return {
      ...brief,
      description: shorten(document.description.split("\n")[0] ?? "", BRIEF_LENGTH),
      takes,
      ...warned,
    };
  }
  const full = { ...named, description: document.description, why };
  const details = found.kind === "tool" ? presentTool(found.offered, wishes) : presentCapability(found, wishes);
  return { ...full, ...details, ...warned };
}

/** Code and types are details. */
function detailOf({ detail, format, include_code: withCode }: Wishes): NonNullable<Wishes["detail"]> {
  return detail ?? (withCode || format === "typescript" ? "full" : "brief");
}

function presentTool({ server, definition }: OfferedTool, { format }: Wishes): Details {
  const { title, inputSchema, outputSchema, annotations } = definition;
  const schemas =
    format === "typescript"
      ? { signature: signature(inputSchema, outputSchema) }
      : { inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
  return {
    server,
    ...(title === undefined ? {} : { title }),
    ...schemas,
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function presentCapability({ ranked, capability }: Extract<Found, { kind: "capability" }>, wishes: Wishes): Details {
  const { code, source, parameters, toolsUsed, usageCount, successCount, totalMs, outputSchema } = capability;
  const text = code ?? JSON.stringify(source);
  const schemas =
    wishes.format === "typescript"
      ? { signature: signature(parameters, outputSchema) }
      : { inputSchema: parameters, ...(outputSchema === undefined ? {} : { outputSchema }) };
  return {
    ...schemas,
    ...(ranked.document.tags.length === 0 ? {} : { tags: ranked.document.tags }),
    source: {
      type: code === null ? "dag" : "code",
      ...(wishes.include_code ? { code: text } : { preview: shorten(text, PREVIEW_LENGTH) }),
    },
    stats: {
      usageCount,
      successRate: usageCount === 0 ? null : successCount / usageCount,
      averageMs: usageCount === 0 ? null : Math.round(totalMs / usageCount),
      toolsUsed,
    },
  };
}

function signature(parameters: unknown, output: unknown): string {
  return `(args: ${toTypeText(parameters)}) => Promise<${toTypeText(output)}>`;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Keeps the results that fit; one at least, since an empty page would look like the end. */
export function fitBudget(results: readonly Presented[], wishes: Budget): readonly Presented[] {
  const tokens = wishes.max_tokens ?? (detailOf(wishes) === "brief" ? BRIEF_TOKENS : undefined);
  if (tokens === undefined) return results;
  let left = tokens * CHARACTERS_PER_TOKEN;
  const over = results.findIndex((each) => (left -= JSON.stringify(each).length) < 0);
  return over < 0 ? results : results.slice(0, Math.max(1, over));
}

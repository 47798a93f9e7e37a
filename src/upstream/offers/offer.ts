import type {
  Implementation,
  Prompt,
  Resource,
  ResourceTemplateType,
  ServerCapabilities,
  Tool,
} from "@modelcontextprotocol/client";

/** Everything a server offers, as it said it: nothing is dropped or rewritten on the way through. */
export interface Offer {
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly prompts: readonly Prompt[];
}

/** Drops what a server lists a second time under a name: only one of the two can be called by it. */
export function dropRepeatedNames(offer: Offer): Offer {
  return { ...offer, tools: firstOfEachName(offer.tools), prompts: firstOfEachName(offer.prompts) };
}

function firstOfEachName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const byName = new Map(items.toReversed().map((item) => [item.name, item]));
  return items.filter((item) => byName.get(item.name) === item);
}

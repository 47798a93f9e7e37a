import { computeCoverage, type FieldFlow, inputsOf, mapFields } from "../analysis/provides.ts";
import type { Coverage, FieldMapping } from "../analysis/structure.ts";
import type { JsonSchema } from "../base/json.ts";
import { inputConcepts, outputFields } from "./field-concepts.ts";

/** A tool or capability with input and result schemas. */
export interface Connectable {
  readonly id: string;
  /** Display name of a capability; a tool is matched by the words of its id. */
  readonly name?: string;
  readonly inputSchema?: JsonSchema | undefined;
  /** Declared by its server, or learned from results. */
  readonly outputSchema?: JsonSchema | undefined;
}

/** An edge along which one result can fill the other's input. */
export interface ProvidesEdge {
  readonly from: string;
  readonly to: string;
  readonly type: "provides";
  readonly coverage: Coverage;
  readonly providerOutputSchema: JsonSchema;
  readonly consumerInputSchema: JsonSchema;
  readonly fieldMapping: readonly FieldMapping[];
}

/** Limit per consumer; a field that everything returns carries no information. */
const MAX_PROVIDERS = 16;

/** Connects items by shared field concepts. An index of concepts avoids comparing all pairs. */
export function createProvidesEdges(items: readonly Connectable[]): ProvidesEdge[] {
  const index = indexOutputs(items);
  return items.flatMap((consumer) => edgesTo(consumer, index));
}

interface Provided {
  readonly provider: Connectable;
  readonly path: string;
}
type OutputIndex = ReadonlyMap<string, readonly Provided[]>;

function indexOutputs(items: readonly Connectable[]): OutputIndex {
  const provided = items.flatMap((provider) =>
    outputFields(provider.name ?? provider.id, provider.outputSchema ?? {}).flatMap(({ path, concepts }) =>
      [...concepts].map((concept) => ({ concept, provider, path })),
    ),
  );
  return Map.groupBy(provided, ({ concept }) => concept);
}

function edgesTo(consumer: Connectable, index: OutputIndex): ProvidesEdge[] {
  const { required, optional } = inputsOf(consumer.inputSchema ?? {});
  const flows = [...required, ...optional].flatMap((toField) =>
    [...inputConcepts(consumer.name ?? consumer.id, toField)].flatMap((concept) =>
      (index.get(concept) ?? []).map(({ provider, path }) => ({ provider, flow: { fromPath: path, toField } })),
    ),
  );
  return [...Map.groupBy(flows, ({ provider }) => provider)]
    .filter(([provider]) => provider !== consumer)
    .flatMap(([provider, group]) =>
      describe(
        provider,
        consumer,
        group.map(({ flow }) => flow),
      ),
    )
    .toSorted((a, b) => rank(b) - rank(a) || (a.from < b.from ? -1 : 1))
    .slice(0, MAX_PROVIDERS);
}

function describe(provider: Connectable, consumer: Connectable, flows: readonly FieldFlow[]): ProvidesEdge[] {
  const { outputSchema = {}, id: from } = provider;
  const { inputSchema = {}, id: to } = consumer;
  const fieldMapping = bestMappings(mapFields(flows, outputSchema, inputSchema));
  const fed = new Set(fieldMapping.filter(({ typeCompatible }) => typeCompatible).map(({ toField }) => toField));
  const coverage = computeCoverage(fed, inputsOf(inputSchema));
  if (coverage === null) return [];
  const schemas = { providerOutputSchema: outputSchema, consumerInputSchema: inputSchema };
  return [{ from, to, type: "provides", coverage, ...schemas, fieldMapping }];
}

/** Picks one source per field: by compatible type, then equal name, then shortest path. */
function bestMappings(all: readonly FieldMapping[]): FieldMapping[] {
  return [...Map.groupBy(all, ({ toField }) => toField).values()].flatMap((group) =>
    group.toSorted((a, b) => fitOf(b) - fitOf(a)).slice(0, 1),
  );
}

function fitOf({ fromField, toField, typeCompatible }: FieldMapping): number {
  const sameName = fromField.split(".").at(-1) === toField;
  return (typeCompatible ? 4 : 0) + (sameName ? 2 : 0) + 1 / fromField.length;
}

const COVERED: Readonly<Record<Coverage, number>> = { strict: 20, partial: 10, optional: 0 };

function rank({ coverage, fieldMapping }: ProvidesEdge): number {
  const sameName = fieldMapping.filter(({ fromField, toField }) => fromField === toField).length;
  return COVERED[coverage] + fieldMapping.length + sameName;
}

import { inputsOf } from "../analysis/provides.ts";
import type { ArgumentsStructure, ArgumentValue, StaticStructure, StructureEdge } from "../analysis/structure.ts";
import type { DagStructure, DagTask } from "../registry/capability.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";
import type { Connectable, ProvidesEdge } from "./provides-edge-calculator.ts";

/** A step that the intent probably needs, with the sources of its arguments. */
interface PredictedNode {
  readonly id: string;
  readonly tool?: string;
  readonly capability?: string;
  readonly arguments: ArgumentsStructure;
}

interface MissingArgument {
  readonly node: string;
  readonly argument: string;
  /** Name of the `args` property that has to carry it. */
  readonly parameter: string;
  readonly schema?: JsonSchema;
}

type DataEdge = Extract<StructureEdge, { readonly type: "provides" }>;

/** Carries both schemas, so that an agent can fill arguments without looking the tools up. */
type PredictedEdge = DataEdge & Pick<ProvidesEdge, "providerOutputSchema" | "consumerInputSchema">;

/** Known input and result schemas of a tool. */
type FindSchemas = (tool: string) => Pick<Connectable, "inputSchema" | "outputSchema"> | undefined;

/** A plan of a few steps. */
export interface SuggestedDag {
  /** Built from edges between tools, or taken from a capability's structure. */
  readonly from: "graph" | "capability";
  readonly nodes: readonly PredictedNode[];
  /** Data flow between nodes. */
  readonly edges: readonly PredictedEdge[];
  /** Required arguments that the request does not give. */
  readonly missing: readonly MissingArgument[];
  /** Score of the weakest step, from 0 to 1. */
  readonly confidence: number;
  /** The plan as `pml_execute` accepts it. */
  readonly dag?: DagStructure;
}

interface PlanCandidate {
  readonly id: string;
  readonly score: number;
  readonly inputSchema?: JsonSchema | undefined;
}

export interface PlanRequest {
  /** Tools that fit the intent, best first. */
  readonly candidates: readonly PlanCandidate[];
  readonly provides: readonly ProvidesEdge[];
  /** Confidence of the edge, from 0 to 1. */
  readonly confidenceOf: (from: string, to: string) => number;
  readonly given: JsonObject;
}

const MAX_STEPS = 4;
/** A tool that scores less than half of the best joins the plan only as its provider. */
const CONSUMER_SCORE_RATIO = 0.5;

/** Plans around the best tool: providers of its missing arguments before it, consumers of its result after it. */
export function suggestDag(request: PlanRequest): SuggestedDag | undefined {
  const [best] = request.candidates;
  if (best === undefined) return undefined;
  const plan = new Plan(request, best);
  plan.addProviders();
  plan.addConsumers();
  return plan.describe();
}

interface PlanStep {
  readonly candidate: PlanCandidate;
  /** Source of each fed argument: a step and a field of its result. */
  readonly fed: Map<string, { readonly step: PlanStep; readonly field: string }>;
}

class Plan {
  readonly #request: PlanRequest;
  /** In execution order. */
  readonly #steps: PlanStep[] = [];
  readonly #into: ReadonlyMap<string, readonly ProvidesEdge[]>;
  readonly #byId: ReadonlyMap<string, PlanCandidate>;

  constructor(request: PlanRequest, best: PlanCandidate) {
    this.#request = request;
    this.#into = Map.groupBy(request.provides, ({ to }) => to);
    this.#byId = new Map(request.candidates.map((each) => [each.id, each]));
    this.#steps.push({ candidate: best, fed: new Map() });
  }

  /** Adds a provider for each required argument that is not given. */
  addProviders(): void {
    for (let index = 0; index < this.#steps.length; index += 1) {
      const step = this.#steps[index];
      if (step === undefined) return;
      for (const argument of this.#open(step)) {
        const provider = this.#bestProvider(step, argument);
        if (provider === undefined) continue;
        const existing = this.#steps.find(({ candidate }) => candidate === provider.candidate);
        if (existing === undefined && this.#steps.length >= MAX_STEPS) continue;
        const from = existing ?? { candidate: provider.candidate, fed: new Map() };
        if (existing === undefined) {
          this.#steps.splice(this.#steps.indexOf(step), 0, from);
          index = -1; // the new step may need providers itself
        } else if (this.#steps.indexOf(existing) > this.#steps.indexOf(step)) continue;
        step.fed.set(argument, { step: from, field: provider.field });
      }
    }
  }

  /** Adds consumers of the plan's results that score nearly as well as the best tool. */
  addConsumers(): void {
    const [best] = this.#request.candidates;
    const least = (best?.score ?? 0) * CONSUMER_SCORE_RATIO;
    for (const candidate of this.#request.candidates) {
      if (this.#steps.length >= MAX_STEPS) return;
      if (candidate.score < least || this.#steps.some((step) => step.candidate === candidate)) continue;
      const fed = this.#feedFromPlan(candidate);
      if (fed.size > 0) this.#steps.push({ candidate, fed });
    }
  }

  describe(): SuggestedDag {
    const ids = new Map(this.#steps.map((step, index) => [step, `t${index + 1}`]));
    const parameters = new Set<string>();
    const described = this.#steps.map((step) => this.#describeStep(step, ids, parameters));
    const scores = this.#steps.map(({ candidate }) => candidate.score);
    return {
      from: "graph",
      nodes: described.map(({ node }) => node),
      edges: this.#steps.flatMap((step) => this.#edgesInto(step, ids)),
      missing: described.flatMap(({ missing }) => missing),
      confidence: Math.round(Math.min(...scores) * 1000) / 1000,
      dag: { tasks: described.map(({ node }) => toTask(node)) },
    };
  }

  #describeStep(step: PlanStep, ids: ReadonlyMap<PlanStep, string>, parameters: Set<string>) {
    const { candidate, fed } = step;
    const id = ids.get(step) ?? "";
    const { required } = inputsOf(candidate.inputSchema ?? {});
    const given: [string, ArgumentValue][] = [];
    const missing: MissingArgument[] = [];
    for (const argument of namesOf(candidate, this.#request.given)) {
      const source = fed.get(argument);
      if (source !== undefined) {
        const from = ids.get(source.step) ?? "";
        const expression = source.field === "$" ? from : `${from}.${source.field}`;
        given.push([argument, { type: "reference", expression, nodes: [from] }]);
        continue;
      }
      const parameter = parameters.has(argument) ? `${argument}_${id}` : argument;
      const isGiven = Object.hasOwn(this.#request.given, parameter);
      if (!isGiven && !required.has(argument)) continue;
      parameters.add(parameter);
      given.push([argument, { type: "parameter", parameterName: parameter }]);
      const schema = propertyOf(candidate.inputSchema, argument);
      if (!isGiven) missing.push({ node: id, argument, parameter, ...(schema === undefined ? {} : { schema }) });
    }
    return { node: { id, tool: candidate.id, arguments: Object.fromEntries(given) }, missing };
  }

  #edgesInto(step: PlanStep, ids: ReadonlyMap<PlanStep, string>): PredictedEdge[] {
    const { candidate, fed } = step;
    const to = ids.get(step) ?? "";
    const feeders = new Set([...fed.values()].map((source) => source.step));
    return [...feeders].flatMap((feeder): PredictedEdge[] => {
      const known = this.#into.get(candidate.id)?.find(({ from }) => from === feeder.candidate.id);
      if (known === undefined) return [];
      return [{ ...known, from: ids.get(feeder) ?? "", to }];
    });
  }

  #open({ candidate, fed }: PlanStep): string[] {
    const { required } = inputsOf(candidate.inputSchema ?? {});
    return [...required].filter((name) => !fed.has(name) && !Object.hasOwn(this.#request.given, name));
  }

  #bestProvider(step: PlanStep, argument: string): { candidate: PlanCandidate; field: string } | undefined {
    const { confidenceOf } = this.#request;
    const found = (this.#into.get(step.candidate.id) ?? []).flatMap(({ from, to, fieldMapping }) => {
      const mapping = fieldMapping.find(({ toField, typeCompatible }) => toField === argument && typeCompatible);
      const candidate = this.#byId.get(from);
      if (mapping === undefined || candidate === undefined || candidate === step.candidate) return [];
      return [{ candidate, field: mapping.fromField, worth: candidate.score + confidenceOf(from, to) }];
    });
    return found.toSorted((a, b) => b.worth - a.worth)[0];
  }

  #feedFromPlan(candidate: PlanCandidate): PlanStep["fed"] {
    const fed: PlanStep["fed"] = new Map();
    const steps = new Map(this.#steps.map((step) => [step.candidate.id, step]));
    for (const { from, fieldMapping } of this.#into.get(candidate.id) ?? []) {
      const step = steps.get(from);
      for (const { fromField, toField, typeCompatible } of step === undefined ? [] : fieldMapping) {
        const isOpen = !fed.has(toField) && !Object.hasOwn(this.#request.given, toField);
        if (step !== undefined && typeCompatible && isOpen) fed.set(toField, { step, field: fromField });
      }
    }
    return fed;
  }
}

function namesOf({ inputSchema = {} }: PlanCandidate, given: JsonObject): string[] {
  const { required, optional } = inputsOf(inputSchema);
  return [...required, ...[...optional].filter((name) => Object.hasOwn(given, name))];
}

function propertyOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const properties = schema?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  return properties?.[name];
}

function toTask({ id, tool = "", arguments: given }: PredictedNode): DagTask {
  const values = Object.entries(given).map(([name, value]) => [name, toDagValue(value)]);
  return { id, tool, arguments: Object.fromEntries(values) as JsonObject };
}

function toDagValue(value: ArgumentValue): JsonValue {
  switch (value.type) {
    case "literal":
      return value.value;
    case "parameter":
      return { $ref: `args.${value.parameterName}` };
    case "reference":
    default:
      return { $ref: value.expression.replace(/\[(\d+)\]/g, ".$1") };
  }
}

interface PredictionContext {
  readonly parameters: JsonSchema;
  readonly given: JsonObject;
  readonly score: number;
  readonly findSchemas: FindSchemas;
}

/** Predicts a capability's steps along its most frequent path. */
export function predictRun(
  structure: StaticStructure,
  path: readonly string[] | undefined,
  { parameters, given, score, findSchemas }: PredictionContext,
): SuggestedDag {
  const visited = path === undefined ? undefined : new Set(path);
  const nodes = structure.nodes.flatMap((node): PredictedNode[] => {
    if (visited?.has(node.id) === false) return [];
    if (node.type === "task") return [{ id: node.id, tool: node.tool, arguments: node.arguments ?? {} }];
    if (node.type !== "capability") return [];
    return [{ id: node.id, capability: node.capability, arguments: node.arguments ?? {} }];
  });
  const missing = [...inputsOf(parameters).required]
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => describeMissing(name, nodes, parameters));
  const known = new Map(nodes.map((node) => [node.id, findSchemas(node.tool ?? "")]));
  const edges = structure.edges.flatMap((edge): PredictedEdge[] => {
    if (edge.type !== "provides" || !known.has(edge.from) || !known.has(edge.to)) return [];
    const { outputSchema: providerOutputSchema = {} } = known.get(edge.from) ?? {};
    const { inputSchema: consumerInputSchema = {} } = known.get(edge.to) ?? {};
    return [{ ...edge, providerOutputSchema, consumerInputSchema }];
  });
  return { from: "capability", nodes, edges, missing, confidence: score };
}

function describeMissing(name: string, nodes: readonly PredictedNode[], parameters: JsonSchema): MissingArgument {
  const takes = (value: ArgumentValue): boolean =>
    value.type === "parameter" && (value.parameterName === name || value.parameterName.startsWith(`${name}.`));
  const user = nodes.find((node) => Object.values(node.arguments).some(takes));
  const argument = Object.entries(user?.arguments ?? {}).find(([, value]) => takes(value))?.[0] ?? name;
  const schema = propertyOf(parameters, name);
  return { node: user?.id ?? "", argument, parameter: name, ...(schema === undefined ? {} : { schema }) };
}

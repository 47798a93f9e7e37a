import { parseToolId, type ToolRef } from "../catalogue/tool-id.ts";
import type { DagStructure, DagTask } from "../registry/capability.ts";
import type { StaticStructure, StructureEdge, StructureNode } from "../analysis/structure.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";
import type { RunHost } from "./worker-bridge.ts";

/** Failure of a task that is not `safeToFail`. */
export class DagFailure extends Error {
  readonly task: string;
  readonly code: string;

  constructor(task: string, { message, code }: { message: string; code: string }) {
    super(message);
    this.task = task;
    this.code = code;
  }
}

type TaskOutcome =
  | { readonly kind: "done"; readonly value: JsonValue }
  | { readonly kind: "failed" }
  | { readonly kind: "skipped" };

/** A DAG made as many calls as a program may. */
export class TooManyTasks extends Error {}

export interface DagRun {
  readonly args: JsonObject;
  readonly host: RunHost;
  /** `sandbox.maxCalls`, as for a program. */
  readonly maxCalls: number;
}

/** Runs a DAG layer by layer, each layer in parallel. Returns the results of its final tasks. */
export async function executeDag(dag: DagStructure, { args, host, maxCalls }: DagRun): Promise<JsonValue> {
  const outcomes = new Map<string, TaskOutcome>();
  let calls = 0;
  const run = async (task: DagTask): Promise<void> => {
    if (!isWanted(task, outcomes, args)) return void outcomes.set(task.id, { kind: "skipped" });
    if (calls >= maxCalls) throw new TooManyTasks(`The DAG made more than ${maxCalls} calls (sandbox.maxCalls)`);
    const { server, tool } = splitTool(task.tool);
    const call = { kind: "tool", id: ++calls, node: task.id, loop: "", server, tool } as const;
    const answer = await host.call({ ...call, args: resolveReferences(task.arguments ?? {}, outcomes, args) });
    if (answer.ok) return void outcomes.set(task.id, { kind: "done", value: answer.value });
    if (task.safeToFail !== true)
      throw new DagFailure(task.id, { message: answer.error.message, code: answer.error.code ?? "tool_error" });
    outcomes.set(task.id, { kind: "failed" });
  };
  for (const layer of layersOf(dag)) {
    const settled = await Promise.allSettled(layer.map(run));
    const failed = settled.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  return collectResult(dag, outcomes);
}

/** Groups tasks by the longest path to them; throws on a missing dependency or a cycle. */
export function layersOf({ tasks }: DagStructure): DagTask[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  if (byId.size !== tasks.length) throw invalid("two tasks have the same id");
  const depths = new Map<string, number>();
  const depthOf = (id: string, trail: readonly string[]): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const task = byId.get(id);
    if (task === undefined) throw invalid(`task ${trail.at(-1) ?? ""} depends on ${id}, which does not exist`);
    if (trail.includes(id)) throw invalid(`tasks depend on each other in a cycle: ${[...trail, id].join(" → ")}`);
    const depth = Math.max(-1, ...dependenciesOf(task).map((each) => depthOf(each, [...trail, id]))) + 1;
    depths.set(id, depth);
    return depth;
  };
  const layers = Map.groupBy(tasks, ({ id }) => depthOf(id, []));
  return [...layers].toSorted(([a], [b]) => a - b).map(([, layer]) => layer);
}

/** Converts a DAG into a program's structure, so that learning works the same for both. */
export function dagToStructure(dag: DagStructure): StaticStructure {
  const range = { start: 0, end: 0, line: 0, column: 0 };
  const nodes = dag.tasks.map((task): StructureNode => ({
    id: task.id,
    type: "task",
    tool: task.tool,
    label: `${task.tool} (${task.id})`,
    range,
  }));
  const edges = dag.tasks.flatMap((task) =>
    dependenciesOf(task).map((from): StructureEdge => ({ from, to: task.id, type: "sequence" })),
  );
  const provides = dag.tasks.flatMap((task) =>
    referencedTasks(task).map((from): StructureEdge => ({ from, to: task.id, type: "provides" })),
  );
  return { nodes, edges: [...edges, ...provides] };
}

/** Schema of the arguments that tasks take from `args`; a condition alone works without its argument. */
export function dagParameters({ tasks }: DagStructure): JsonSchema {
  const passed = tasks.flatMap((task) => valueReferences(task));
  const required = [...new Set(passed.flatMap(argumentName))];
  const names = new Set([...required, ...tasks.flatMap((task) => referencesOf(task).flatMap(argumentName))]);
  return {
    type: "object",
    properties: Object.fromEntries([...names].map((name) => [name, {}])),
    required,
    ...(tasks.flatMap(referencesOf).includes("args") ? {} : { additionalProperties: false }),
  };
}

function argumentName(ref: string): string[] {
  return ref.startsWith("args.") ? [ref.split(".")[1] ?? ""] : [];
}

function dependenciesOf(task: DagTask): string[] {
  return [...new Set([...(task.dependsOn ?? []), ...referencedTasks(task)])];
}

function referencedTasks(task: DagTask): string[] {
  const ids = referencesOf(task).map((ref) => ref.split(".")[0] ?? "");
  return [...new Set(ids)].filter((id) => id !== "args" && id !== "");
}

function referencesOf(task: DagTask): string[] {
  const condition = task.condition === undefined ? undefined : parseCondition(task.condition);
  return condition === undefined ? valueReferences(task) : [...valueReferences(task), condition.ref];
}

function valueReferences(task: DagTask): string[] {
  const found: string[] = [];
  const visit = (value: JsonValue): void => {
    if (typeof value !== "object" || value === null) return;
    const ref = referenceOf(value);
    if (ref !== undefined) found.push(ref);
    else for (const item of Object.values(value)) visit(item);
  };
  visit(task.arguments ?? {});
  return found;
}

function referenceOf(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  const ref = (value as JsonObject)["$ref"];
  return keys.length === 1 && typeof ref === "string" ? ref : undefined;
}

function resolveReferences(value: JsonValue, outcomes: ReadonlyMap<string, TaskOutcome>, args: JsonObject): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  const ref = referenceOf(value);
  if (ref !== undefined) return lookUp(ref, outcomes, args) ?? null;
  if (Array.isArray(value)) return value.map((item: JsonValue) => resolveReferences(item, outcomes, args));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveReferences(item, outcomes, args)]));
}

function lookUp(ref: string, outcomes: ReadonlyMap<string, TaskOutcome>, args: JsonObject): JsonValue | undefined {
  const [head = "", ...path] = ref.split(".");
  const outcome = outcomes.get(head);
  const start: JsonValue | undefined = head === "args" ? args : outcome?.kind === "done" ? outcome.value : undefined;
  return path.reduce<JsonValue | undefined>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, JsonValue>)[key]
        : undefined,
    start,
  );
}

interface Condition {
  readonly negated: boolean;
  readonly ref: string;
  readonly compare?: { readonly equal: boolean; readonly value: JsonValue };
}

const CONDITION = /^(!)?\s*([\w.-]+)\s*(?:(==|!=)\s*(\S.*))?$/;

function parseCondition(text: string): Condition {
  const [, not, ref, operator, literal] = CONDITION.exec(text.trim()) ?? [];
  if (ref === undefined) throw invalid(`condition "${text}" is not of the form  [!]task.field [==|!= JSON]`);
  if (operator === undefined || literal === undefined) return { negated: not !== undefined, ref };
  try {
    return {
      negated: not !== undefined,
      ref,
      compare: { equal: operator === "==", value: JSON.parse(literal) as JsonValue },
    };
  } catch {
    throw invalid(`condition "${text}": ${literal} is not JSON`);
  }
}

/** A task runs if its condition holds and none of its dependencies was skipped. */
function isWanted(task: DagTask, outcomes: ReadonlyMap<string, TaskOutcome>, args: JsonObject): boolean {
  if (dependenciesOf(task).some((id) => outcomes.get(id)?.kind === "skipped")) return false;
  if (task.condition === undefined) return true;
  const { negated, ref, compare } = parseCondition(task.condition);
  const value = lookUp(ref, outcomes, args);
  const holds =
    compare === undefined
      ? Boolean(value)
      : (JSON.stringify(value) === JSON.stringify(compare.value)) === compare.equal;
  return holds !== negated;
}

function collectResult(dag: DagStructure, outcomes: ReadonlyMap<string, TaskOutcome>): JsonValue {
  const needed = new Set(dag.tasks.flatMap(dependenciesOf));
  const last = dag.tasks.filter(({ id }) => !needed.has(id));
  const values = last.map(({ id }) => {
    const outcome = outcomes.get(id);
    return [id, outcome?.kind === "done" ? outcome.value : null] as const;
  });
  return values.length === 1 ? (values[0]?.[1] ?? null) : Object.fromEntries(values);
}

function splitTool(id: string): ToolRef {
  const ref = parseToolId(id);
  if (ref.server === "") throw invalid(`"${id}" is not the name of a tool, as server:tool`);
  return ref;
}

function invalid(message: string): PmlError {
  return new PmlError("dag_invalid", `The DAG cannot be run: ${message}`);
}

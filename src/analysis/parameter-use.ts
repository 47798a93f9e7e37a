import type { JsonSchema } from "../base/json.ts";
import { findConstant } from "./constants.ts";
import { findOrCreate, type Parameter } from "./parameter-tree.ts";
import { fieldsOf } from "./provides.ts";
import { type ByType, handlerOf, isMember, type Node, type NodeOf, staticKey } from "./syntax-tree.ts";
import type { Scopes } from "./scopes.ts";
import type { TypeNotes } from "./type-notes.ts";
import type { ParameterFact, ValueFlow } from "./value-flow.ts";

export interface ParameterSources {
  readonly values: ValueFlow;
  readonly scopes: Scopes;
  readonly notes: TypeNotes;
}

type ParameterUse = Extract<ParameterFact, { kind: "used" }>;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const ARRAY_METHODS = words(
  "map filter forEach reduce reduceRight flatMap flat some every find findIndex join push pop shift sort reverse entries keys",
);
const STRING_METHODS = words(
  "trim trimStart trimEnd split toUpperCase toLowerCase startsWith endsWith replace replaceAll padStart padEnd charAt match " +
    "matchAll substring localeCompare codePointAt charCodeAt normalize repeat search",
);
const NUMBER_METHODS = words("toFixed toPrecision");
const ARITHMETIC = words("- * / % ** < > <= >= & | ^ << >> >>>");
const EQUALITY = words("=== !== == !=");

/** Records the facts that one use of (a part of) `args` implies. */
export function observeUse(root: Parameter, { node, path }: ParameterUse, sources: ParameterSources): void {
  const parent = node.parent ?? undefined;
  if (parent?.type === "CallExpression" && parent.callee === node) {
    observeMethod(root, path);
    return;
  }
  if (path.length > 1 && path.at(-1) === "length") {
    need(root, path.slice(0, -1));
    return;
  }
  const parameter = findOrCreate(root, path);
  const handler = parent === undefined ? undefined : handlerOf(USES, parent);
  const isTolerant = parent !== undefined && handler?.(parent, { node, parameter, sources }) === true;
  need(root, isTolerant ? path.slice(0, -1) : path);
}

/** Records the call of a method on a parameter; `args` itself has no methods. */
function observeMethod(root: Parameter, path: readonly string[]): void {
  const owner = path.slice(0, -1);
  const kind = kindByMethod(path.at(-1) ?? "");
  if (owner.length === 0) return;
  need(root, owner);
  if (kind !== undefined) findOrCreate(root, owner).kinds.add(kind);
}

function need(root: Parameter, path: readonly string[]): void {
  for (let length = 1; length <= path.length; length += 1) findOrCreate(root, path.slice(0, length)).needed = true;
}

function kindByMethod(name: string): string | undefined {
  if (ARRAY_METHODS.has(name)) return "array";
  if (STRING_METHODS.has(name)) return "string";
  return NUMBER_METHODS.has(name) ? "number" : undefined;
}

interface UseContext {
  readonly node: Node;
  readonly parameter: Parameter;
  readonly sources: ParameterSources;
}

/** Rules by the type of the parent node. Returns true if the use does not by itself need a value. */
const USES: ByType<readonly [UseContext], boolean> = {
  Property: (parent, context) => copyPropertySchema(parent, context),
  CallExpression: (parent, context) => copyToolSchema(parent, context),
  LogicalExpression(parent, { node, parameter, sources }) {
    if (parent.left !== node) return false;
    if (parent.operator === "&&") return test(parameter);
    parameter.defaulted = true;
    const constant = findConstant(parent.right, sources.scopes);
    if (constant !== undefined) parameter.default ??= constant.value;
    return true;
  },
  IfStatement: (_, { parameter }) => test(parameter),
  ConditionalExpression: (parent, { node, parameter }) => parent.test === node && test(parameter),
  UnaryExpression(parent, { parameter }) {
    if (parent.operator === "-" || parent.operator === "+") parameter.kinds.add("number");
    if (parent.operator !== "!" && parent.operator !== "typeof") return false;
    if (parent.operator === "!") return !isRefused(parent) && test(parameter);
    noteTypeof(parent, parameter);
    return !isRefused(parent.parent ?? parent) && optional(parameter);
  },
  BinaryExpression: (parent, context) => compare(parent, context),
  ForOfStatement: (parent, { node, parameter }) => addKind(parameter, parent.right === node ? "array" : undefined),
  ForInStatement: (parent, { node, parameter }) => addKind(parameter, parent.right === node ? "object" : undefined),
  SpreadElement: (parent, { parameter }) =>
    addKind(parameter, parent.parent?.type === "ObjectExpression" ? "object" : "array"),
};

function addKind(parameter: Parameter, kind: string | undefined): false {
  if (kind !== undefined) parameter.kinds.add(kind);
  return false;
}

function optional(parameter: Parameter): true {
  parameter.optional = true;
  return true;
}

function test(parameter: Parameter): true {
  parameter.tested = true;
  return optional(parameter);
}

/** `if (!args.path) throw …` makes the parameter required after all. */
function isRefused(node: Node): boolean {
  const { parent } = node;
  if (parent?.type !== "IfStatement" || parent.test !== node) return false;
  const { consequent } = parent;
  const first = consequent.type === "BlockStatement" ? consequent.body[0] : consequent;
  return first?.type === "ThrowStatement";
}

/** Records `typeof args.x === "string"`. */
function noteTypeof(node: NodeOf<"UnaryExpression">, parameter: Parameter): void {
  const { parent } = node;
  if (parent?.type !== "BinaryExpression") return;
  const other = parent.left === node ? parent.right : parent.left;
  const kind = other.type === "Literal" ? other.value : undefined;
  if (kind === "string" || kind === "number" || kind === "boolean" || kind === "object") parameter.kinds.add(kind);
}

function compare({ left, operator, right }: NodeOf<"BinaryExpression">, { node, parameter }: UseContext): boolean {
  const other = left === node ? right : left;
  const constant = other.type === "Literal" ? other.value : undefined;
  if (EQUALITY.has(operator)) {
    const isMissing = constant === null || (other.type === "Identifier" && other.name === "undefined");
    return isMissing ? !isRefused(node.parent ?? node) && optional(parameter) : addKind(parameter, kindOf(constant));
  }
  const isNumber = ARITHMETIC.has(operator) || (operator === "+" && typeof constant === "number");
  return addKind(parameter, isNumber ? "number" : undefined);
}

function kindOf(value: unknown): string | undefined {
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : undefined;
}

/** Copies the tool's schema of the property that the parameter is passed as. */
function copyPropertySchema(property: NodeOf<"Property">, { node, parameter, sources }: UseContext): boolean {
  const name = property.value === node ? staticKey(property) : undefined;
  const call = property.parent?.parent;
  if (name === undefined || call?.type !== "CallExpression" || call.arguments[0] !== property.parent) return false;
  const input = sources.values.sites.get(call)?.tool?.inputSchema;
  const schema = propertyOf(input, name);
  if (schema === undefined) return false;
  if (isSelfContained(schema)) parameter.taken ??= schema;
  return !requiredOf(input).includes(name);
}

/** Copies all of the tool's parameters for `mcp.fs.read(args)`. */
function copyToolSchema(call: NodeOf<"CallExpression">, { node, parameter, sources }: UseContext): boolean {
  if (isMember(call.callee, "JSON", "parse")) return addKind(parameter, "string");
  const input = sources.values.sites.get(call)?.tool?.inputSchema;
  if (input === undefined || call.arguments[0] !== node) return false;
  for (const name of fieldsOf(input)) {
    const schema = propertyOf(input, name);
    const member = findOrCreate(parameter, [name]);
    if (schema !== undefined && isSelfContained(schema)) member.taken ??= schema;
    member.needed ||= requiredOf(input).includes(name);
  }
  return false;
}

function propertyOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const properties = schema?.["properties"];
  if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, name)) return undefined;
  const found: unknown = (properties as Record<string, unknown>)[name];
  return typeof found === "object" && found !== null ? (found as JsonSchema) : undefined;
}

function requiredOf(schema: JsonSchema | undefined): readonly unknown[] {
  const required = schema?.["required"];
  return Array.isArray(required) ? required : [];
}

/** False for a schema with `$ref`, which would point into the schema it was copied from. */
function isSelfContained(schema: JsonSchema): boolean {
  return !JSON.stringify(schema).includes('"$ref"');
}

import type { ArgumentGuards } from "./argument-guards.ts";
import { bindingOf, isLogicalAssignment } from "./bindings.ts";
import type { JsonSchema } from "../base/json.ts";
import { findConstant } from "./constants.ts";
import { findOrCreate, joinTaken, type Parameter } from "./parameter-tree.ts";
import { EQUALITY, isRefused, isTest, isTypeTest } from "./parameter-tests.ts";
import { findPlaces, propertyOf, requiredOf, usesOf } from "./passed-objects.ts";
import { fieldsOf } from "./provides.ts";
import { type ByType, handlerOf, isMember, type Node, type NodeOf } from "./syntax-tree.ts";
import type { Scopes } from "./scopes.ts";
import type { TypeNotes } from "./type-notes.ts";
import type { ParameterFact, ValueFlow } from "./value-flow.ts";

export interface ParameterSources {
  readonly values: ValueFlow;
  readonly scopes: Scopes;
  readonly notes: TypeNotes;
  readonly guards: ArgumentGuards;
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
/** Methods of strings and arrays. */
const SEQUENCE_METHODS = words("slice includes indexOf lastIndexOf concat at");
const ARITHMETIC = words("- * / % ** & | ^ << >> >>>");
/** Texts have an order, too. */
const ORDER = words("< > <= >=");

/** Records the facts that one use of (a part of) `args` implies. */
export function observeUse(root: Parameter, { node, path }: ParameterUse, sources: ParameterSources): void {
  const isWhole = observePlace(root, { node, path }, sources);
  const needed = isWhole ? path : path.slice(0, -1);
  if (sources.guards.isCertain(node, needed)) need(root, needed);
}

/** Returns true if the place needs the value itself, false if only the object that may have it. */
function observePlace(
  root: Parameter,
  { node, path }: Pick<ParameterUse, "node" | "path">,
  sources: ParameterSources,
): boolean {
  const { parent } = node;
  if (parent?.type === "CallExpression" && parent.callee === node) {
    observeMethod(root, path);
    return false;
  }
  if (path.length > 1 && path.at(-1) === "length") return false;
  const parameter = findOrCreate(root, path);
  const handled = parent ? handlerOf(USES, parent)?.(parent, { node, parameter, sources }) : undefined;
  if (handled !== "tested") parameter.valued = true;
  return handled === undefined;
}

/** Records the call of a method on a parameter; `args` itself has no methods. */
function observeMethod(root: Parameter, path: readonly string[]): void {
  const owner = path.slice(0, -1);
  const method = path.at(-1) ?? "";
  if (owner.length === 0) return;
  const parameter = findOrCreate(root, owner);
  parameter.valued = true;
  const kind = kindByMethod(method);
  if (kind !== undefined) parameter.kinds.add(kind);
  else if (SEQUENCE_METHODS.has(method)) parameter.sequence = true;
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

/** How a program manages without a value: it only tests it, or the place accepts that there is none. */
type Tolerance = "tested" | "accepted" | undefined;

/** Rules by the type of the parent node. Returns undefined if the use needs a value. */
const USES: ByType<readonly [UseContext], Tolerance> = {
  Property: (parent, context) => copyPropertySchema(parent, context),
  CallExpression: (parent, context) => observeArgument(parent, context),
  LogicalExpression(parent, context) {
    const { node, parameter } = context;
    if (parent.left !== node) return undefined;
    if (parent.operator === "&&") return test(parameter);
    takeDefault(parent.right, context);
    return copySchemaOfUses(parent, context);
  },
  AssignmentExpression(parent, context) {
    if (parent.left !== context.node) return undefined;
    if (parent.operator === "??=" || parent.operator === "||=") takeDefault(parent.right, context);
    return parent.operator === "=" || isLogicalAssignment(parent) ? "accepted" : undefined;
  },
  IfStatement: (_, { parameter }) => test(parameter),
  SwitchStatement(parent, { parameter }) {
    for (const { test: label } of parent.cases) if (label !== null) noteLiteral(label, parameter);
    return "tested";
  },
  ConditionalExpression: (parent, { node, parameter }) => (parent.test === node ? test(parameter) : undefined),
  UnaryExpression(parent, { parameter }) {
    if (parent.operator === "-" || parent.operator === "+") parameter.kinds.add("number");
    if (parent.operator === "delete") return "accepted";
    if (parent.operator === "!") return isRefused(parent) ? undefined : test(parameter);
    return parent.operator === "typeof" ? observeTypeof(parent, parameter) : undefined;
  },
  BinaryExpression: (parent, context) => compare(parent, context),
  ForOfStatement(parent, { node, parameter }) {
    if (parent.right !== node) return undefined;
    if (takesObjects(parent.left)) parameter.kinds.add("array");
    parameter.sequence = true;
    return undefined;
  },
  ForInStatement: (parent, { node, parameter }) => addKind(parameter, parent.right === node ? "object" : undefined),
  SpreadElement(parent, { parameter }) {
    if (parent.parent?.type !== "ObjectExpression") {
      parameter.sequence = true;
      return undefined;
    }
    parameter.kinds.add("object");
    return "accepted";
  },
};

function addKind(parameter: Parameter, kind: string | undefined): undefined {
  if (kind !== undefined) parameter.kinds.add(kind);
  return undefined;
}

function optional(parameter: Parameter): "tested" {
  parameter.optional = true;
  return "tested";
}

function test(parameter: Parameter): "tested" {
  parameter.tested = true;
  return optional(parameter);
}

function takeDefault(value: Node, { parameter, sources }: UseContext): void {
  parameter.defaulted = true;
  const constant = findConstant(value, sources.scopes);
  if (constant !== undefined) parameter.default ??= constant.value;
}

const TYPES = words("string number boolean object");

/** Tells `if (typeof args.x !== "string") throw` from a program that handles several types. */
function observeTypeof(node: NodeOf<"UnaryExpression">, parameter: Parameter): Tolerance {
  const { parent } = node;
  if (parent?.type !== "BinaryExpression") return optional(parameter);
  const other = parent.left === node ? parent.right : parent.left;
  const kind = other.type === "Literal" ? String(other.value) : "";
  if (isRefused(parent)) {
    const isNegated = parent.operator.startsWith("!");
    if (isNegated && TYPES.has(kind)) return addKind(parameter, kind);
    if (!isNegated && kind === "undefined") return undefined;
  }
  if (kind !== "undefined") parameter.examined = true;
  return optional(parameter);
}

function compare(parent: NodeOf<"BinaryExpression">, { node, parameter }: UseContext): Tolerance {
  const { left, operator, right } = parent;
  const other = left === node ? right : left;
  if (EQUALITY.has(operator)) return compareEqual(other, { parent, parameter });
  const isNumber = ORDER.has(operator) || operator === "+" ? isNumeric(other) : ARITHMETIC.has(operator);
  return addKind(parameter, isNumber ? "number" : undefined);
}

function compareEqual(
  other: Node,
  { parent, parameter }: { readonly parent: Node; readonly parameter: Parameter },
): Tolerance {
  const isNull = other.type === "Literal" && other.value === null;
  const isMissing = isNull || (other.type === "Identifier" && other.name === "undefined");
  if (!isMissing) noteLiteral(other, parameter);
  if (isRefused(parent)) return undefined;
  return isMissing ? optional(parameter) : "tested";
}

/** True for a number and for a counter, as in `for (let i = 0; i < args.pages; i++)`. */
function isNumeric(node: Node): boolean {
  if (node.type === "Literal") return typeof node.value === "number";
  return (bindingOf(node)?.writes ?? []).some(
    ({ source }) => source?.type === "Literal" && typeof source.value === "number",
  );
}

function noteLiteral(node: Node, parameter: Parameter): void {
  const kind = node.type === "Literal" ? typeof node.value : undefined;
  if (kind === "string" || kind === "number" || kind === "boolean") parameter.compared.add(kind);
  else parameter.valued = true;
}

/** True if the loop variable is used as an object, which no character of a text is. */
function takesObjects(left: Node): boolean {
  const name = left.type === "VariableDeclaration" ? left.declarations[0]?.id : left;
  if (name?.type === "ObjectPattern") return true;
  return (bindingOf(name)?.reads ?? []).some(({ parent }) => {
    if (parent?.type !== "MemberExpression" || parent.property.type !== "Identifier" || parent.computed) return false;
    const member = parent.property.name;
    return member !== "length" && !STRING_METHODS.has(member) && !SEQUENCE_METHODS.has(member);
  });
}

/** Copies the tool's schema of the property that the parameter is passed as. */
function copyPropertySchema(property: NodeOf<"Property">, { node, parameter, sources }: UseContext): Tolerance {
  const places = property.value === node ? findPlaces(property, sources) : [];
  for (const { schema } of places) {
    if (schema !== undefined && isSelfContained(schema)) parameter.taken = joinTaken(parameter.taken, schema);
  }
  return places.length > 0 && places.every((place) => place.accepts) ? "accepted" : undefined;
}

/**
 * Copies the tool's schema where `args.x ?? 5` is passed on, directly or by the name of a variable. A default that the
 * program tells from other values, as in `limit === "all"`, may differ from them in type.
 */
function copySchemaOfUses(expression: Node, { parameter, sources }: UseContext): "accepted" {
  for (const node of usesOf(expression)) {
    const { parent } = node;
    if (parent?.type === "Property") copyPropertySchema(parent, { node, parameter, sources });
    parameter.examined ||= isTypeTest(node);
  }
  return "accepted";
}

/** Copies all of the tool's parameters for `mcp.fs.read(args)`; notes the tests of `Array.isArray(args.x)`. */
function observeArgument(call: NodeOf<"CallExpression">, { node, parameter, sources }: UseContext): Tolerance {
  if (isMember(call.callee, "JSON", "parse")) return addKind(parameter, "string");
  if (isMember(call.callee, "Array", "isArray")) return observeIsArray(call, parameter);
  const input = sources.values.sites.get(call)?.tool?.inputSchema;
  if (input === undefined) return isTestedByFunction(call, node, sources) ? "accepted" : undefined;
  if (call.arguments[0] !== node) return undefined;
  for (const name of fieldsOf(input)) {
    const schema = propertyOf(input, name);
    const member = findOrCreate(parameter, [name]);
    if (schema !== undefined && isSelfContained(schema)) member.taken = joinTaken(member.taken, schema);
    member.needed ||= requiredOf(input).includes(name);
  }
  return undefined;
}

function observeIsArray(call: Node, parameter: Parameter): Tolerance {
  const { parent } = call;
  if (parent?.type === "UnaryExpression" && parent.operator === "!" && isRefused(parent))
    return addKind(parameter, "array");
  parameter.examined = true;
  return "tested";
}

/** True if a function of the program gives the argument a default or tests it. */
function isTestedByFunction(call: NodeOf<"CallExpression">, node: Node, { scopes }: ParameterSources): boolean {
  const index = call.arguments.indexOf(node as (typeof call.arguments)[number]);
  const parameter = scopes.calledFunction(call.callee)?.params[index];
  if (parameter === undefined) return false;
  return parameter.type === "AssignmentPattern" || (bindingOf(parameter)?.reads ?? []).some(isTest);
}

/** False for a schema with `$ref`, which would point into the schema it was copied from. */
function isSelfContained(schema: JsonSchema): boolean {
  return !JSON.stringify(schema).includes('"$ref"');
}

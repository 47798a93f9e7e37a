import type { TSType } from "oxc-parser";
import type { JsonSchema } from "../base/json.ts";
import { ArgumentGuards } from "./argument-guards.ts";
import { findConstant } from "./constants.ts";
import { createParameter, findOrCreate, type Parameter, toObjectSchema } from "./parameter-tree.ts";
import { observeUse, type ParameterSources } from "./parameter-use.ts";
import type { Node } from "./syntax-tree.ts";
import type { TypeNotes } from "./type-notes.ts";
import { allowsUndefined, enterType, membersOf, OUTERMOST, toSchema } from "./type-schema.ts";
import { type ParameterFact, valueOf } from "./value-flow.ts";

/** About the size of a member in the schema, without its name. */
const MEMBER_BYTES = 20;

/**
 * Infers the JSON Schema of `args` from stated types, from the schemas of the tools that get its parts, and from use.
 */
export function inferParameters(found: Omit<ParameterSources, "guards">): JsonSchema {
  const sources = { ...found, guards: new ArgumentGuards(found.values) };
  const root = createParameter();
  const facts = [...sources.values.parameterFacts, ...findAssertions(sources)];
  for (const fact of facts.toSorted((a, b) => positionOf(a) - positionOf(b))) addFact(root, fact, sources);
  const schema = toObjectSchema(root);
  return knowsAllUses(sources) ? { ...schema, additionalProperties: false } : schema;
}

/** Positions that see whether `args` exists, and none of its parts. */
const EMPTY_TESTS: ReadonlySet<string> = new Set<Node["type"]>(["IfStatement", "UnaryExpression"]);

/** False if the program uses `args` as a whole, or could by a name that only exists when it runs. */
function knowsAllUses({ values, scopes }: Pick<ParameterSources, "values" | "scopes">): boolean {
  if (scopes.free.has("eval") || scopes.free.has("arguments")) return false;
  return !values.parameterFacts.some((fact) => fact.kind === "used" && isWholeUse(fact.path, fact.node));
}

function isWholeUse(path: readonly string[], node: Node): boolean {
  const { parent } = node;
  // `args.hasOwnProperty(name)` reads a parameter whose name is not known
  if (path.length === 1) return parent?.type === "CallExpression" && parent.callee === node;
  if (path.length > 1 || !parent) return false;
  if (parent.type === "BinaryExpression") return parent.operator === "in";
  if (parent.type === "ConditionalExpression") return parent.test !== node;
  if (parent.type === "LogicalExpression") return parent.left !== node || parent.operator !== "&&";
  return !EMPTY_TESTS.has(parent.type);
}

interface Assertion {
  readonly kind: "asserted";
  readonly path: readonly string[];
  readonly type: TSType;
}

function findAssertions({ notes }: ParameterSources): Assertion[] {
  const { assertions, declaredArgs } = notes;
  const found = [...assertions].flatMap(([node, type]): Assertion[] => {
    const value = valueOf(node);
    return value?.kind === "args" ? [{ kind: "asserted", path: value.path, type }] : [];
  });
  return declaredArgs === undefined ? found : [{ kind: "asserted", path: [], type: declaredArgs }, ...found];
}

function positionOf(fact: ParameterFact | Assertion): number {
  if (fact.kind === "bound") return fact.pattern.start;
  if (fact.kind === "asserted") return fact.type.start;
  return fact.kind === "defaulted" ? fact.value.start : fact.node.start;
}

function addFact(root: Parameter, fact: ParameterFact | Assertion, sources: ParameterSources): void {
  if (fact.kind === "used") observeUse(root, fact, sources);
  else if (fact.kind === "bound") addPattern(findOrCreate(root, fact.path), fact.pattern, sources.notes);
  else if (fact.kind === "replaced") findOrCreate(root, fact.path).valued = true;
  else if (fact.kind === "optional") findOrCreate(root, fact.path).optional = true;
  else if (fact.kind === "asserted") applyStatedType(findOrCreate(root, fact.path), fact.type, sources.notes);
  else {
    const parameter = findOrCreate(root, fact.path);
    parameter.defaulted = true;
    const constant = findConstant(fact.value, sources.scopes);
    if (constant !== undefined) parameter.default ??= constant.value;
  }
}

function addPattern(parameter: Parameter, pattern: Node, notes: TypeNotes): void {
  if (pattern.type === "ArrayPattern") parameter.sequence = true;
  const annotation = "typeAnnotation" in pattern ? pattern.typeAnnotation : undefined;
  if (annotation?.type === "TSTypeAnnotation") applyStatedType(parameter, annotation.typeAnnotation, notes);
}

/** Applies a stated type to a parameter, member by member for an object type. */
function applyStatedType(parameter: Parameter, type: TSType, notes: TypeNotes, place = OUTERMOST): void {
  const inner = enterType(type, notes, place);
  const members = inner && membersOf(type, notes);
  if (members === undefined || inner === undefined) {
    parameter.stated ??= toSchema(type, notes, place);
    parameter.optional ||= allowsUndefined(type);
    return;
  }
  for (const { name, optional, type: memberType } of members) {
    notes.spend(MEMBER_BYTES + name.length);
    const member = findOrCreate(parameter, [name]);
    if (optional) member.optional = true;
    else member.demanded = true;
    if (memberType !== undefined) applyStatedType(member, memberType, notes, inner);
  }
}

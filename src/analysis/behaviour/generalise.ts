import type { JsonSchema, JsonValue } from "../../base/json.ts";
import { canonical } from "../../base/canonical.ts";
import { parseToolId } from "../../catalogue/tool-id.ts";
import { WRAPPER_START } from "../source-text.ts";
import type { Node } from "../syntax-tree.ts";
import { TextEdits } from "../text-edits.ts";
import { type Behaviour, linkedValues } from "./behaviour.ts";
import type { LiftedParameter, LiteralRange } from "./behaviour-facts.ts";
import type { Lifted } from "./lift-arguments.ts";

/** Lifts the literals that reach a tool to parameters; `taken` are the names that the program's own parameters have. */
export function liftParameters(behaviour: Behaviour, taken: readonly string[]): LiftedParameter[] {
  if (behaviour.hidesArgs) return [];
  const drafts = nameParameters(groupByOrigin(behaviour.evaluated.lifted), taken);
  const ranges = findRanges(behaviour, drafts);
  return drafts.map((draft) => describe(draft, ranges.get(draft) ?? []));
}

/** Puts parameters in place of their literals, which stay as defaults where `isDefault` says so. */
export function writeGeneralised(
  program: string,
  parameters: readonly LiftedParameter[],
  isDefault: (parameter: LiftedParameter) => boolean,
): string {
  const edits = new TextEdits();
  for (const parameter of parameters) {
    const keeps = isDefault(parameter);
    for (const { start, end, bare } of parameter.ranges) {
      const read = `args.${parameter.name}`;
      const text = keeps ? `${read} ?? ${program.slice(start, end)}` : read;
      edits.replace(start, end, keeps && !bare ? `(${text})` : text);
    }
  }
  return edits.apply(program).text;
}

interface Draft {
  readonly name: string;
  readonly value: JsonValue;
  readonly uses: readonly Lifted[];
}

/** A literal that several calls get, through a variable, is one value. */
function groupByOrigin(lifted: readonly Lifted[]): Lifted[][] {
  const groups = new Map<Node, Lifted[]>();
  for (const each of lifted) groups.set(each.origin, [...(groups.get(each.origin) ?? []), each]);
  return [...groups.values()];
}

/** The same name with the same value is one parameter; with another value it gets the verb of its tool, then a number. */
function nameParameters(groups: readonly (readonly Lifted[])[], taken: readonly string[]): Draft[] {
  const drafts = new Map<string, Draft>();
  for (const uses of groups) {
    const [first] = uses;
    if (first === undefined) continue;
    const { value } = first;
    const name = candidateNames(uses).find((candidate) => {
      const other = drafts.get(candidate);
      return other === undefined ? !taken.includes(candidate) : canonical(other.value) === canonical(value);
    });
    if (name === undefined) continue;
    drafts.set(name, { name, value, uses: [...(drafts.get(name)?.uses ?? []), ...uses] });
  }
  return [...drafts.values()];
}

const MOST_NUMBERED = 100;

function candidateNames(uses: readonly Lifted[]): string[] {
  const [first] = uses;
  if (first === undefined) return [];
  const name = baseName(uses);
  const long = `${verbOf(first.target)}_${name}`;
  return [name, long, ...Array.from({ length: MOST_NUMBERED }, (_, index) => `${long}_${index + 2}`)];
}

function baseName(uses: readonly Lifted[]): string {
  const names = new Set(uses.map(({ path }) => toIdentifier(path.at(-1) ?? "value")));
  const [only = "value"] = names;
  const { each, origin } = uses[0] as Lifted;
  if (!each) return only;
  return names.size === 1 ? plural(only) : (variableName(origin) ?? "items");
}

function variableName({ parent }: Node): string | undefined {
  return parent?.type === "VariableDeclarator" && parent.id.type === "Identifier" ? parent.id.name : undefined;
}

function plural(name: string): string {
  if (name.endsWith("s")) return `${name}_list`;
  return name.endsWith("y") ? `${name.slice(0, -1)}ies` : `${name}s`;
}

function verbOf(target: string): string {
  const name = target.startsWith("capability ") ? target : parseToolId(target).tool;
  return toIdentifier(/[a-z]+/i.exec(name.split(/[\s:]/).at(-1) ?? "")?.[0]?.toLowerCase() ?? "call");
}

function toIdentifier(text: string): string {
  const plain = text.replaceAll(/\W+/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}

/** Finds the literals of each parameter, also where the program repeats one of their values. */
function findRanges({ evaluated }: Behaviour, drafts: readonly Draft[]): ReadonlyMap<Draft, readonly LiteralRange[]> {
  const owners = new Map<Node, Draft>();
  const own = (node: Node, draft: Draft): void => void (owners.has(node) || owners.set(node, draft));
  for (const draft of drafts) for (const { origin } of draft.uses) own(origin, draft);
  const linked = linkedValues(evaluated.lifted);
  for (const { value, origin } of evaluated.literals) {
    const same = linked.has(value) ? drafts.find((draft) => draft.value === value) : undefined;
    if (same !== undefined) own(origin, same);
  }
  const groups = Map.groupBy(owners, ([, draft]) => draft);
  return new Map([...groups].map(([draft, group]) => [draft, group.map(([node]) => toRange(node))]));
}

function toRange(node: Node): LiteralRange {
  const [start, end] = [node.start - WRAPPER_START.length, node.end - WRAPPER_START.length];
  return { start, end, bare: node.parent !== null && BARE_PARENTS.has(node.parent?.type ?? "") };
}

/** Below these an expression needs no parentheses. */
const BARE_PARENTS: ReadonlySet<string> = new Set([
  "Property",
  "CallExpression",
  "VariableDeclarator",
  "ArrayExpression",
  "ReturnStatement",
]);

function describe({ name, value, uses }: Draft, ranges: readonly LiteralRange[]): LiftedParameter {
  const stated = uses.find(({ schema }) => schema !== undefined);
  const schema = stated?.schema === undefined ? schemaOf(value) : stated.each ? toList(stated.schema) : stated.schema;
  return { name, schema, value, ranges, uses: uses.map(({ target, path }) => ({ target, path })) };
}

function toList(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function schemaOf(value: JsonValue): JsonSchema {
  if (value === null) return {};
  if (Array.isArray(value)) return value[0] === undefined ? { type: "array" } : toList(schemaOf(value[0]));
  if (typeof value !== "object") return { type: typeof value };
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(value).map(([key, item]) => [key, schemaOf(item)])),
  };
}

import type { JsonSchema, JsonValue } from "../../base/json.ts";
import { canonical } from "../../base/canonical.ts";
import { parseToolId } from "../../catalogue/tool-id.ts";
import { WRAPPER_START } from "../source-text.ts";
import type { ToolCatalogue } from "../structure.ts";
import type { Node } from "../syntax-tree.ts";
import { TextEdits } from "../text-edits.ts";
import { type Behaviour, findBehaviour, linkedValues } from "./behaviour.ts";
import type { Lifted } from "./lift-arguments.ts";

/** A parameter that stood as a literal in the program. */
interface LiftedParameter {
  readonly name: string;
  /** From the tool's schema where it has one for the argument, else from the value. */
  readonly schema: JsonSchema;
  readonly value: JsonValue;
  /** The tools that get it, with the path of the argument. */
  readonly uses: readonly { readonly target: string; readonly path: readonly string[] }[];
}

export interface GeneralisedProgram {
  readonly key: string;
  /** The program with `args.<name>` in place of each literal that a tool gets. */
  readonly code: string;
  /** Empty for a program without such literals. */
  readonly parameters: readonly LiftedParameter[];
}

/**
 * Lifts the literals that reach a tool to parameters. Undefined for a program without a behaviour key; `taken` are the
 * names of parameters that the program has already.
 */
export function generalise(
  program: string,
  catalogue: ToolCatalogue,
  taken: readonly string[],
): GeneralisedProgram | undefined {
  const behaviour = findBehaviour(program, catalogue);
  if (behaviour === undefined) return undefined;
  const { key } = behaviour;
  if (behaviour.hidesArgs) return { key, code: program, parameters: [] };
  const parameters = nameParameters(groupByOrigin(behaviour.evaluated.lifted), taken);
  return { key, code: replaceLiterals(program, behaviour, parameters), parameters: parameters.map(describe) };
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

/** Puts the parameters into the text, also where the program repeats one of their values. */
function replaceLiterals(program: string, { evaluated }: Behaviour, drafts: readonly Draft[]): string {
  const edits = new TextEdits();
  const replaced = new Set<Node>();
  const replace = (node: Node, name: string): void => {
    if (replaced.has(node)) return;
    replaced.add(node);
    edits.replace(node.start - WRAPPER_START.length, node.end - WRAPPER_START.length, `args.${name}`);
  };
  for (const { name, uses } of drafts) for (const { origin } of uses) replace(origin, name);
  const linked = linkedValues(evaluated.lifted);
  for (const { value, origin } of evaluated.literals) {
    const same = linked.has(value) ? drafts.find((draft) => draft.value === value) : undefined;
    if (same !== undefined) replace(origin, same.name);
  }
  return edits.apply(program).text;
}

function describe({ name, value, uses }: Draft): LiftedParameter {
  const stated = uses.find(({ schema }) => schema !== undefined);
  const schema = stated?.schema === undefined ? schemaOf(value) : stated.each ? toList(stated.schema) : stated.schema;
  return { name, schema, value, uses: uses.map(({ target, path }) => ({ target, path })) };
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

/** Figures of the source's shape, each a function of parsed files. */
import { isNode, lineAt, listImports, type SourceFile, type SyntaxNode, visitNodes } from "./source-file.ts";

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const TYPES = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration", "ClassDeclaration"]);

/** Length of every function, in lines, shortest first. */
export function functionLengths(files: readonly SourceFile[]): number[] {
  const lengths: number[] = [];
  for (const file of files)
    visitNodes(file, ({ type, start, end }) => {
      if (FUNCTIONS.has(type)) lengths.push(lineAt(file, end) - lineAt(file, start) + 1);
    });
  return lengths.toSorted((a, b) => a - b);
}

/** Names of interfaces, type aliases and classes, each with the files that declare it. */
export function typeNames(files: readonly SourceFile[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const file of files)
    visitNodes(file, (node) => {
      if (!TYPES.has(node.type)) return;
      const name = identifier(node["id"]);
      const declared = name === undefined ? undefined : (names.get(name) ?? []);
      if (name !== undefined && declared?.includes(file.path) === false) names.set(name, [...declared, file.path]);
    });
  return names;
}

/** Places of `as unknown as`. */
export function doubleCasts(files: readonly SourceFile[]): string[] {
  return findNodes(files, ({ type, expression }) => {
    if (type !== "TSAsExpression" || !isNode(expression) || expression.type !== "TSAsExpression") return false;
    const inner = expression["typeAnnotation"];
    return isNode(inner) && inner.type === "TSUnknownKeyword";
  });
}

/** Places that match, as `path:line`. */
export function findNodes(files: readonly SourceFile[], matches: (node: SyntaxNode) => boolean): string[] {
  const places: string[] = [];
  for (const file of files)
    visitNodes(file, (node) => {
      if (matches(node)) places.push(`${file.path}:${lineAt(file, node.start)}`);
    });
  return places;
}

/** Groups of files that import each other in a circle. */
export function importCycles(files: readonly SourceFile[], kind: "all" | "values"): string[][] {
  const targets = new Map(files.map((file) => [file.path, listImports(file, kind)]));
  const reach = (from: string): Set<string> => {
    const seen = new Set<string>();
    const open = [...(targets.get(from) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(targets.get(next) ?? []));
    }
    return seen;
  };
  const reached = new Map([...targets.keys()].map((path) => [path, reach(path)]));
  const groups = new Map<string, string[]>();
  for (const [path, others] of reached) {
    if (!others.has(path)) continue;
    const group = [...others].filter((other) => reached.get(other)?.has(path) === true).toSorted();
    groups.set(group.join(" "), group);
  }
  return [...groups.values()];
}

/** Full names of tests with the requirements they claim, the names of the groups around them included. */
export function testClaims(file: SourceFile): { readonly name: string; readonly ids: readonly string[] }[] {
  const tests: { name: string; ids: string[] }[] = [];
  const walk = (value: unknown, groups: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, groups);
    if (!isNode(value)) return;
    const kind = value.type === "CallExpression" ? calledName(value["callee"]) : undefined;
    const own = kind === undefined ? undefined : firstText(value["arguments"]);
    const name = [groups, own].filter((part) => part !== undefined && part !== "").join(" ");
    if (own !== undefined && (kind === "test" || kind === "it"))
      tests.push({ name, ids: [...name.matchAll(/\[([A-Za-z0-9.-]+)\]/g)].map(([, id = ""]) => id) });
    const inner = kind === "describe" ? name : groups;
    for (const field of Object.values(value)) walk(field, inner);
  };
  walk(file.parsed.program, "");
  return tests;
}

/** The name at the bottom of `test`, `test.each(…)` or `describe.skipIf(…)`. */
function calledName(callee: unknown): string | undefined {
  if (!isNode(callee)) return undefined;
  if (callee.type === "MemberExpression") return calledName(callee["object"]);
  if (callee.type === "CallExpression") return calledName(callee["callee"]);
  return identifier(callee);
}

function firstText(args: unknown): string | undefined {
  const first: unknown = Array.isArray(args) ? args[0] : undefined;
  if (!isNode(first)) return undefined;
  if (first.type === "Literal" && typeof first["value"] === "string") return first["value"];
  return first.type === "TemplateLiteral" ? templateTexts(first).join("…") : undefined;
}

/** The fixed parts of a template, in order. */
export function templateTexts({ quasis }: SyntaxNode): string[] {
  if (!Array.isArray(quasis)) return [];
  return quasis.map((quasi: { value: { cooked: string | null } }) => quasi.value.cooked ?? "");
}

export function identifier(node: unknown): string | undefined {
  return isNode(node) && typeof node["name"] === "string" ? node["name"] : undefined;
}

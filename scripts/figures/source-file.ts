import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ParseResult, parseSync } from "oxc-parser";

/** A parsed file; the path is below the repository's root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly parsed: ParseResult;
}

/** A node of the syntax tree, as far as the figures look at it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function readSource(root: string, path: string): SourceFile {
  return parseSource(path, readFileSync(join(root, path), "utf8"));
}

export function parseSource(path: string, text: string): SourceFile {
  return { path, text, parsed: parseSync(path, text) };
}

/** Relative imports of a file, static and dynamic, as paths below the root; `values` leaves out those of types only. */
export function listImports({ path, text, parsed: { module } }: SourceFile, kind: "all" | "values"): string[] {
  const counts = (entries: readonly { isType: boolean }[]): boolean =>
    kind === "all" || entries.length === 0 || entries.some(({ isType }) => !isType);
  const statics = module.staticImports
    .filter(({ entries }) => counts(entries))
    .map(({ moduleRequest }) => moduleRequest.value);
  const reexports = module.staticExports.flatMap(({ entries }) =>
    entries.filter((entry) => counts([entry])).map(({ moduleRequest }) => moduleRequest?.value),
  );
  const dynamics = module.dynamicImports.map(({ moduleRequest }) =>
    text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
  );
  return [...statics, ...reexports, ...dynamics]
    .filter((request): request is string => request?.startsWith(".") === true)
    .map((request) => join(dirname(path), request));
}

/** Visits every node of a file, parents first. */
export function visitNodes({ parsed }: SourceFile, visit: (node: SyntaxNode) => void): void {
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) walk(item);
    else if (isNode(value)) {
      visit(value);
      for (const field of Object.values(value)) walk(field);
    }
  };
  walk(parsed.program);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** One-based line of an offset. */
export function lineAt({ text }: SourceFile, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

import type { ToolFacts } from "./structure.ts";
import type { Node, NodeOf } from "./syntax-tree.ts";

/** Deeper than any useful schema. */
const MAX_PATH = 20;

/** A place that calls a tool or capability, or passes it to code that may call it. */
export interface Site {
  readonly kind: "task" | "capability" | "dynamic";
  /** Tool id or name of the capability; undefined where it is computed. */
  readonly name?: string;
  readonly tool?: ToolFacts;
  /** The call, or the expression that is passed on. */
  readonly node: Node;
  readonly call?: NodeOf<"CallExpression">;
  /** Evaluates to the tool's function; undefined where the program passes on a whole server or `mcp` itself. */
  readonly callee?: Node;
}

/** The static value of an expression. */
export type Value =
  | { readonly kind: "global" }
  | { readonly kind: "mcp" }
  | { readonly kind: "server"; readonly server: string | undefined }
  | { readonly kind: "tool"; readonly server: string | undefined; readonly tool: string | undefined }
  | { readonly kind: "capabilities" }
  /** A namespace or a capability: both spellings exist, the call decides. */
  | { readonly kind: "capability"; readonly names: readonly (string | undefined)[] }
  | { readonly kind: "args"; readonly path: readonly string[] }
  | { readonly kind: "result"; readonly site: Site; readonly path: string };

/** Returns the static value of `value.key`; a key of `undefined` stands for a computed one. */
export function memberOf(value: Value, key: string | undefined): Value | undefined {
  if (value.kind === "mcp") return { kind: "server", server: key };
  if (value.kind === "server") return { kind: "tool", server: value.server, tool: key };
  if (value.kind === "capabilities") return { kind: "capability", names: [key] };
  if (value.kind === "capability")
    return value.names.length > 1 ? undefined : { ...value, names: [...value.names, key] };
  return key === undefined ? undefined : namedMemberOf(value, key);
}

function namedMemberOf(value: Value, key: string): Value | undefined {
  if (value.kind === "global" && (key === "mcp" || key === "capabilities")) return { kind: key };
  if (value.kind === "args")
    return value.path.length < MAX_PATH ? { kind: "args", path: [...value.path, key] } : undefined;
  return value.kind === "result" ? { ...value, path: value.path + formatKey(key) } : undefined;
}

/** True for values that give access to tools or capabilities. */
export function isAccess(value: Value): boolean {
  return value.kind !== "args" && value.kind !== "result" && value.kind !== "global";
}

function formatKey(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

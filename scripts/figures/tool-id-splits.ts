/** Finds code that takes `server:tool` apart, or puts it together, by hand. */
import { findNodes, identifier, templateTexts } from "./measure.ts";
import { isNode, type SourceFile, type SyntaxNode } from "./source-file.ts";

/** The one place that parses and formats tool ids. */
const TOOL_ID_FILE = "src/catalogue/tool-id.ts";
const METHODS = new Set(["split", "indexOf", "lastIndexOf", "join", "includes"]);
/** Patterns that cut at the first colon whatever stands before it. */
const SPLITTING_PATTERN = /\[\^:\][+*]\)?:/;

/** Files in which a colon separates something else. */
const OTHER_COLONS: Readonly<Record<string, string>> = {
  "src/analysis/value-flow.ts": "a capability's namespace and action",
  "src/base/content-hash.ts": "key and value of JSON",
  "src/config/config-file.ts": "path, line and column",
  "src/config/load-config.ts": "path and variable",
  "src/config/schema.ts": "the form of a setting",
  "src/contract/execute.ts": "the form of a setting",
  "src/discovery/document-text.ts": "words of a name",
  "src/execution/trace.ts": "node and loop index",
  "src/http/guard.ts": "host and port",
  "src/http/http-server.ts": "parameters of a route, host and port",
  "src/http/listen-address.ts": "host and port",
  "src/learning/declaration.ts": "a capability's namespace and action",
  "src/naming/propose-name.ts": "a capability's namespace and action",
  "src/permissions/yaml-file.ts": "path and line",
  "src/registry/apply-naming.ts": "a capability's namespace and action",
  "src/registry/capability-registry.ts": "scope and a capability's name",
  "src/registry/change-versions.ts": "a capability's namespace and action",
  "src/registry/find-record.ts": "a capability's namespace and action",
  "src/registry/fqdn.ts": "a capability's namespace and action",
  "src/registry/names.ts": "a capability's namespace and action",
  "src/sandbox/guest-messages.ts": "a capability's namespace and action",
  "src/sandbox/guest/marks.mjs": "node and loop index",
  "src/sandbox/guest/tool-globals.mjs": "a tool's id, where an isolate can import nothing",
  "src/sandbox/guest/url-parts.mjs": "parts of a URL",
  "src/sandbox/guest/url.mjs": "parts of a URL",
  "src/sandbox/process-usage.ts": "fields of /proc",
};

/** Places that split or join tool ids by hand, as `path:line`. */
export function toolIdSplits(files: readonly SourceFile[]): string[] {
  const searched = files.filter(({ path }) => path !== TOOL_ID_FILE && OTHER_COLONS[path] === undefined);
  return findNodes(searched, (node) => isColonCall(node) || isColonTemplate(node) || isColonPattern(node));
}

/** Entries of the list above whose file is gone, so that the list does not outlive its reasons. */
export function staleExceptions(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  return Object.keys(OTHER_COLONS).filter((path) => !paths.has(path));
}

function isColonCall({ type, callee, arguments: args }: SyntaxNode): boolean {
  if (type !== "CallExpression" || !isNode(callee) || callee.type !== "MemberExpression") return false;
  const first: unknown = Array.isArray(args) ? args[0] : undefined;
  return METHODS.has(identifier(callee["property"]) ?? "") && isNode(first) && first["value"] === ":";
}

function isColonTemplate(node: SyntaxNode): boolean {
  return node.type === "TemplateLiteral" && templateTexts(node).join("|") === "|:|";
}

function isColonPattern({ type, regex }: SyntaxNode): boolean {
  if (type !== "Literal" || typeof regex !== "object" || regex === null || !("pattern" in regex)) return false;
  return typeof regex.pattern === "string" && SPLITTING_PATTERN.test(regex.pattern);
}

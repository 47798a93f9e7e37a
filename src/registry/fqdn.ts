import { parseToolId } from "../catalogue/tool-id.ts";
import type { Scope } from "./scope.ts";

/** A name taken apart. */
export interface NameParts {
  readonly displayName: string;
  readonly namespace: string;
  readonly action: string;
}

export interface FqdnParts extends Scope {
  readonly namespace: string;
  readonly action: string;
  readonly hash: string;
}

const UNNAMED = "unnamed_";
const SHORT_HASH = 8;

/** What a program is called until somebody names it; longer where another program begins the same. */
export function unnamed(sourceHash: string, tools: readonly string[], length: number = SHORT_HASH): NameParts {
  const short = sourceHash.slice(0, length);
  return { displayName: `${UNNAMED}${short}`, namespace: inferNamespace(tools), action: `exec_${short}` };
}

export function isUnnamed(displayName: string): boolean {
  return displayName.startsWith(UNNAMED);
}

export function formatFqdn({ org, project, namespace, action, hash }: FqdnParts): string {
  return [org, project, namespace, action, hash].join(".");
}

const FQDN_PARTS = 5;

/** undefined where the text is none. */
export function parseFqdn(text: string): FqdnParts | undefined {
  const [org, project, namespace, action, hash, ...more] = text.split(".");
  if (!org || !project || !namespace || !action || !hash || more.length > 0) return undefined;
  return { org, project, namespace, action, hash };
}

/** `org.project.namespace.action`, as people shorten it. */
export function parseShortFqdn(text: string): Omit<FqdnParts, "hash"> | undefined {
  return text.split(".").length === FQDN_PARTS - 1 ? parseFqdn(`${text}.0`) : undefined;
}

export function displayNameOf({ namespace, action }: Pick<FqdnParts, "namespace" | "action">): string {
  return `${namespace}:${action}`;
}

const NAMESPACE_WITHOUT_TOOLS = "util";

/** The server that most of the tools belong to; among equals the first by name. */
export function inferNamespace(tools: readonly string[]): string {
  const servers = Map.groupBy(tools, (tool) => parseToolId(tool).server);
  const [most] = [...servers].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));
  const plain = most?.[0].toLowerCase().replace(/[^a-z0-9]/g, "") ?? "";
  return /^[a-z]/.test(plain) ? plain : NAMESPACE_WITHOUT_TOOLS;
}

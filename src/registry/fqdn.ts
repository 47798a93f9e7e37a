import { parseToolId } from "../catalogue/tool-id.ts";
import type { Scope } from "./scope.ts";

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

/** Name parts of a program without a name; a longer hash prefix tells programs with the same prefix apart. */
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

/** Returns undefined if the text is not an FQDN. */
export function parseFqdn(text: string): FqdnParts | undefined {
  const [org, project, namespace, action, hash, ...more] = text.split(".");
  if (!org || !project || !namespace || !action || !hash || more.length > 0) return undefined;
  return { org, project, namespace, action, hash };
}

/** Parses the short form `org.project.namespace.action`. */
export function parseShortFqdn(text: string): Omit<FqdnParts, "hash"> | undefined {
  return text.split(".").length === FQDN_PARTS - 1 ? parseFqdn(`${text}.0`) : undefined;
}

export function displayNameOf({ namespace, action }: Pick<FqdnParts, "namespace" | "action">): string {
  return `${namespace}:${action}`;
}

const NAMESPACE_WITHOUT_TOOLS = "util";

/** The server that most of the tools belong to; the first by name if there is a tie. */
export function inferNamespace(tools: readonly string[]): string {
  const servers = Map.groupBy(tools, (tool) => parseToolId(tool).server);
  const [most] = [...servers].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));
  const plain = most?.[0].toLowerCase().replace(/[^a-z0-9]/g, "") ?? "";
  return /^[a-z]/.test(plain) ? plain : NAMESPACE_WITHOUT_TOOLS;
}

import type { Scope } from "./scope.ts";

export interface Naming {
  readonly displayName: string;
  readonly namespace: string;
  readonly action: string;
}

export interface FqdnParts extends Scope {
  readonly namespace: string;
  readonly action: string;
  readonly hash: string;
}

/** What a program is called until somebody names it. */
export function unnamed(sourceHash: string, tools: readonly string[]): Naming {
  const short = sourceHash.slice(0, 8);
  return { displayName: `unnamed_${short}`, namespace: inferNamespace(tools), action: `exec_${short}` };
}

export function formatFqdn({ org, project, namespace, action, hash }: FqdnParts): string {
  return [org, project, namespace, action, hash].join(".");
}

const NAMESPACE_WITHOUT_TOOLS = "util";

/** The server that most of the tools belong to; among equals the first by name. */
function inferNamespace(tools: readonly string[]): string {
  const servers = Map.groupBy(tools, (tool) => tool.slice(0, tool.indexOf(":")));
  const [most] = [...servers].toSorted(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));
  const plain = most?.[0].toLowerCase().replace(/[^a-z0-9]/g, "") ?? "";
  return /^[a-z]/.test(plain) ? plain : NAMESPACE_WITHOUT_TOOLS;
}

const NAME = /^(?:([a-z][a-z0-9]*):)?([a-zA-Z][a-zA-Z0-9_-]*)$/;
const LONGEST_NAME = 50;

/** undefined where the text is not a legal name. */
export function parseName(name: string, tools: readonly string[]): Naming | undefined {
  const [, namespace, action] = NAME.exec(name) ?? [];
  if (action === undefined || action.includes("__") || name.length > LONGEST_NAME) return undefined;
  return { displayName: name, namespace: namespace ?? inferNamespace(tools), action };
}

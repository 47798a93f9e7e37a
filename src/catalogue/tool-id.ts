/** A tool of a server behind the gateway. Its id is `server:tool`: in the database, traces, graph and UI alike. */
export interface ToolRef {
  readonly kind: "tool";
  readonly server: string;
  readonly tool: string;
}

/** A capability by its record. Its id in graph, statistics and search is `cap:` and the record's id. */
export interface CapabilityRef {
  readonly kind: "capability";
  readonly recordId: string;
}

/**
 * Stands before a record's id in stored ids, and before a display name in call names. No server can have this name,
 * so neither is mistaken for a tool.
 */
export const CAPABILITY_PREFIX = "cap:";

const ALL_TOOLS = "*";

export function formatToolId(server: string, tool: string): string {
  return `${server}:${tool}`;
}

/** One spelling for names of servers that differ in case and signs alone. A gateway has only one of them. */
export function foldServer(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9*]+/g, "_");
}

/** Server names have no colon, names of tools may. Undefined where the text names no server. */
export function findToolId(id: string): ToolRef | undefined {
  const colon = id.indexOf(":");
  return colon < 0 ? undefined : { kind: "tool", server: id.slice(0, colon), tool: id.slice(colon + 1) };
}

/** For ids that PML itself made; a text without a server is all tool. */
export function parseToolId(id: string): ToolRef {
  return findToolId(id) ?? { kind: "tool", server: "", tool: id };
}

export function isToolOf(id: string, server: string): boolean {
  return parseToolId(id).server === server;
}

/** The pattern that stands for every tool of a server. */
export function allToolsOf(server: string): string {
  return formatToolId(server, ALL_TOOLS);
}

export function formatCapabilityId(recordId: string): string {
  return `${CAPABILITY_PREFIX}${recordId}`;
}

/** Reads the ids of graph, statistics and search. */
export function parseRef(id: string): ToolRef | CapabilityRef {
  return id.startsWith(CAPABILITY_PREFIX)
    ? { kind: "capability", recordId: id.slice(CAPABILITY_PREFIX.length) }
    : parseToolId(id);
}

/** The records among a list of ids, in its order. */
export function recordIdsIn(ids: readonly string[]): string[] {
  return ids.map(parseRef).flatMap((ref) => (ref.kind === "capability" ? [ref.recordId] : []));
}

/** The name an agent calls a capability by: `cap:fs:read_json`. */
export function formatCallName(displayName: string): string {
  return `${CAPABILITY_PREFIX}${displayName}`;
}

/** The display name in a call name; a text without the prefix is one already. */
export function parseCallName(callName: string): string {
  return callName.startsWith(CAPABILITY_PREFIX) ? callName.slice(CAPABILITY_PREFIX.length) : callName;
}

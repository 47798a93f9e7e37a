import { sql } from "kysely";
import { v7 as newId } from "uuid";
import { contentHash } from "../../base/content-hash.ts";
import { allToolsOf, formatToolId } from "../../catalogue/tool-id.ts";
import type { Tx } from "../../db/client.ts";
import { claimedEffect, EFFECTS } from "../../permissions/effect.ts";
import type { Scope } from "../../registry/scope.ts";
import { inParts, type Redefinition, type ToolChange, writeChanges } from "./change-store.ts";
import type { Offer } from "./offer.ts";

type Tool = Offer["tools"][number];

export interface OfferedTools {
  readonly server: string;
  readonly tools: readonly Tool[];
  /** True if all changes count as accepted. */
  readonly acceptsChanges: boolean;
}

/** Stores the tools of a server, marks those that are gone, and returns the changed ones. */
export async function writeTools(
  tx: Tx,
  scope: Scope,
  { server, tools, acceptsChanges }: OfferedTools,
): Promise<ToolChange[]> {
  const known = new Map((await readTools(tx, scope, server)).map((row) => [row.tool_id, row]));
  const offered = tools.map((tool) => ({
    toolId: formatToolId(server, tool.name),
    server,
    tool,
    hash: contentHash(tool),
  }));
  const written = offered.filter(({ toolId, hash }) => {
    const old = known.get(toolId);
    return old?.content_hash !== hash || old.removed_at !== null;
  });
  const redefined = written.flatMap(({ toolId, tool, hash }): Redefinition[] => {
    const old = known.get(toolId);
    if (old === undefined || old.content_hash === hash) return [];
    return [{ toolId, oldHash: old.content_hash, newHash: hash, before: old.definition, after: tool }];
  });
  const changes = await writeChanges(tx, scope, redefined, acceptsChanges);
  await upsertTools(tx, scope, written);
  const isNew = ({ toolId }: ToolRow): boolean => known.get(toolId)?.removed_at !== null;
  if (known.size > 0) await recordNew(tx, scope, written.filter(isNew));
  const ids = new Set(offered.map(({ toolId }) => toolId));
  const gone = [...known.values()].filter(({ tool_id: id }) => !ids.has(id));
  await markRemoved(tx, scope, gone);
  await forgetRemoved(tx, scope, gone);
  return changes;
}

function readTools(tx: Tx, { org, project }: Scope, server: string) {
  return tx
    .selectFrom("tool_schema")
    .select(["tool_id", "content_hash", "definition", "removed_at"])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("server_id", "=", server)
    .execute();
}

interface ToolRow {
  readonly toolId: string;
  readonly server: string;
  readonly tool: Tool;
  readonly hash: string;
}

async function upsertTools(tx: Tx, scope: Scope, tools: readonly ToolRow[]): Promise<void> {
  for (const part of inParts(tools)) {
    await tx
      .insertInto("tool_schema")
      .values(part.map((each) => toRow(scope, each)))
      .onConflict((conflict) =>
        conflict.columns(["org", "project", "tool_id"]).doUpdateSet((row) => ({
          title: row.ref("excluded.title"),
          description: row.ref("excluded.description"),
          input_schema: row.ref("excluded.input_schema"),
          output_schema: row.ref("excluded.output_schema"),
          annotations: row.ref("excluded.annotations"),
          definition: row.ref("excluded.definition"),
          content_hash: row.ref("excluded.content_hash"),
          changed_at: sql<Date>`now()`,
          removed_at: null,
        })),
      )
      .execute();
  }
}

function toRow(scope: Scope, { toolId, server, tool, hash }: ToolRow) {
  return {
    ...scope,
    tool_id: toolId,
    server_id: server,
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    input_schema: JSON.stringify(tool.inputSchema),
    output_schema: tool.outputSchema === undefined ? null : JSON.stringify(tool.outputSchema),
    annotations: tool.annotations === undefined ? null : JSON.stringify(tool.annotations),
    definition: JSON.stringify(tool),
    content_hash: hash,
  };
}

/** New tools with the same claim that one offer adds to the record by name; more of them are one entry. */
const MOST_RECORDED = 10;

/**
 * Records tools that a known server adds or brings back: their claims count at once where it is believed. The record
 * only grows, so that a server that invents names gets few entries.
 */
async function recordNew(tx: Tx, scope: Scope, tools: readonly ToolRow[]): Promise<void> {
  const byEffect = Map.groupBy(tools, ({ tool }) => claimedEffect(tool.annotations));
  const rows = [...byEffect].flatMap(([effect, added]) => {
    const entries =
      added.length > MOST_RECORDED
        ? [{ subject: allToolsOf(added[0]?.server ?? ""), details: { added: added.length } }]
        : added.map(({ toolId, hash }) => ({ subject: toolId, details: { hash } }));
    return entries.map(({ subject, details }) => ({
      ...scope,
      id: newId(),
      action: "tool.add",
      subject,
      outcome: effect,
      details: JSON.stringify(details),
    }));
  });
  if (rows.length > 0) await tx.insertInto("audit_log").values(rows).execute();
}

interface GoneTool {
  readonly tool_id: string;
  readonly definition: unknown;
  /** Null if it was still offered before. */
  readonly removed_at: Date | null;
}

async function markRemoved(tx: Tx, { org, project }: Scope, gone: readonly GoneTool[]): Promise<void> {
  const ids = gone.flatMap(({ tool_id: id, removed_at: at }) => (at === null ? [id] : []));
  for (const part of inParts(ids)) {
    await tx
      .updateTable("tool_schema")
      .set({ removed_at: sql<Date>`now()` })
      .where("org", "=", org)
      .where("project", "=", project)
      .where("tool_id", "in", part)
      .execute();
  }
}

/** Tools of one server that are remembered while it does not offer them. */
const MOST_REMOVED = 1_000;

/**
 * Forgets tools that are gone for long, beginning with those that claimed the least effect: one that comes back must not
 * claim less than it did. One that ever changed counts as the most severe, and tools that a person decided about stay.
 */
async function forgetRemoved(tx: Tx, scope: Scope, gone: readonly GoneTool[]): Promise<void> {
  if (gone.length <= MOST_REMOVED) return;
  const { changed, decided } = await readChanged(tx, scope, gone);
  const severity = ({ tool_id: id, definition }: GoneTool): number =>
    changed.has(id) ? EFFECTS.length : EFFECTS.indexOf(claimedEffect((definition as Partial<Tool>).annotations));
  const time = ({ removed_at: at }: GoneTool): number => at?.getTime() ?? Date.now();
  const inOrder = gone
    .filter(({ tool_id: id }) => !decided.has(id))
    .toSorted((a, b) => severity(a) - severity(b) || time(a) - time(b));
  const forgotten = inOrder.slice(0, gone.length - MOST_REMOVED).map(({ tool_id: id }) => id);
  for (const part of inParts(forgotten)) {
    for (const table of ["tool_schema_change", "tool_schema"] as const) {
      await tx
        .deleteFrom(table)
        .where("org", "=", scope.org)
        .where("project", "=", scope.project)
        .where("tool_id", "in", part)
        .execute();
    }
  }
}

interface ChangedTools {
  readonly changed: ReadonlySet<string>;
  /** The part that a person decided about. */
  readonly decided: ReadonlySet<string>;
}

async function readChanged(tx: Tx, { org, project }: Scope, tools: readonly GoneTool[]): Promise<ChangedTools> {
  const changed = new Set<string>();
  const decided = new Set<string>();
  for (const part of inParts(tools.map(({ tool_id: id }) => id))) {
    const rows = await tx
      .selectFrom("tool_schema_change")
      .select(["tool_id", "reviewed_at"])
      .where("org", "=", org)
      .where("project", "=", project)
      .where("tool_id", "in", part)
      .execute();
    for (const { tool_id: id, reviewed_at: at } of rows) {
      changed.add(id);
      if (at !== null) decided.add(id);
    }
  }
  return { changed, decided };
}

import { v7 as newId } from "uuid";
import type { Tx } from "../../db/client.ts";
import type { EffectClaims } from "../../permissions/effect.ts";
import type { Scope } from "../../registry/scope.ts";
import { findObsolete } from "./obsolete-changes.ts";
import { decideChange, readHistories, type Verdict } from "./review-store.ts";

/** A tool whose definition changed under the same name. */
export interface ToolChange {
  readonly toolId: string;
  readonly oldHash: string;
  readonly newHash: string;
  /** Null if a person has to decide. */
  readonly verdict: Verdict | null;
}

/** A change that nothing was decided about yet, with both definitions. */
export interface Redefinition extends Omit<ToolChange, "verdict"> {
  readonly before: unknown;
  readonly after: unknown;
}

/** Decides and stores changes, and drops those of the same tools that nobody needs any more. */
export async function writeChanges(
  tx: Tx,
  scope: Scope,
  redefined: readonly Redefinition[],
  acceptsChanges: boolean,
): Promise<ToolChange[]> {
  const changes: ToolChange[] = [];
  for (const part of inParts(redefined)) {
    const toolIds = part.map(({ toolId }) => toolId);
    const histories = await readHistories(tx, scope, toolIds);
    const decided = part.map((each) => {
      const [before, after] = [annotationsOf(each.before), annotationsOf(each.after)];
      const history = histories.get(each.toolId) ?? [];
      const change = { id: newId(), hash: each.newHash, hashBefore: each.oldHash, before, after, byPerson: false };
      const verdict = decideChange(history, change, acceptsChanges);
      return { ...each, id: change.id, verdict, obsolete: findObsolete([...history, { ...change, verdict }]) };
    });
    await insertChanges(tx, scope, decided);
    const obsolete = decided.flatMap((each) => each.obsolete);
    for (const ids of inParts(obsolete)) {
      await tx.deleteFrom("tool_schema_change").where("org", "=", scope.org).where("id", "in", ids).execute();
    }
    changes.push(...decided.map(({ toolId, oldHash, newHash, verdict }) => ({ toolId, oldHash, newHash, verdict })));
  }
  return changes;
}

interface DecidedChange extends Redefinition, ToolChange {
  readonly id: string;
}

async function insertChanges(tx: Tx, scope: Scope, changes: readonly DecidedChange[]): Promise<void> {
  const rows = changes.map(({ id, toolId, oldHash, newHash, verdict, before, after }) => ({
    ...scope,
    id,
    tool_id: toolId,
    old_hash: oldHash,
    new_hash: newHash,
    old_definition: JSON.stringify(before),
    new_definition: JSON.stringify(after),
    verdict,
  }));
  await tx.insertInto("tool_schema_change").values(rows).execute();
}

function annotationsOf(definition: unknown): EffectClaims | null {
  return (definition as { annotations?: EffectClaims }).annotations ?? null;
}

/** A statement for each tool would block the database for seconds; one for all has too many values. */
const ROWS_AT_ONCE = 250;

export function inParts<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / ROWS_AT_ONCE);
  return Array.from({ length: count }, (_, index) => items.slice(index * ROWS_AT_ONCE, (index + 1) * ROWS_AT_ONCE));
}

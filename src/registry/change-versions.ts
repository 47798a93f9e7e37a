import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { becomeVersion, nameTaken, refuseTakenTag } from "./apply-naming.ts";
import type { PreparedSource } from "./capability.ts";
import { authorId } from "./author-store.ts";
import { findCapabilityBySource } from "./capability-store.ts";
import { formatFqdn, isUnnamed } from "./fqdn.ts";
import { checkName, type NamePolicy } from "./names.ts";
import { findNameHolder, setName, writeAudit } from "./naming-store.ts";
import type { NewVersion } from "./registry.ts";
import { findRecord, type FoundRecord } from "./resolve-store.ts";
import type { Asker } from "./scope.ts";
import { checkVersionTag } from "./specifier.ts";
import {
  copyVersion,
  insertDependencies,
  nextVersion,
  setCurrentVersion,
  setSource,
  writeVersion,
} from "./version-store.ts";
import { fitDescription } from "./record-texts.ts";

interface Update extends Omit<NewVersion, "code"> {
  readonly record: FoundRecord;
  readonly prepared: PreparedSource;
  /** Ids of the records that the new version calls. */
  readonly calls: readonly string[];
}

/** Adds a version and returns the warnings. */
export async function addVersion(tx: Tx, asker: Asker, update: Update): Promise<readonly string[]> {
  const { scope } = asker;
  const { record, prepared, changeSummary, description } = update;
  const tag = update.versionTag === undefined ? undefined : checkVersionTag(update.versionTag);
  const known = await findCapabilityBySource(tx, asker, prepared.sourceHash);
  if (known?.id === record.id && known.version === record.version && tag === undefined)
    return [`Nothing changed: this is already version ${known.version} of ${record.displayName}`];
  if (known !== undefined && known.id !== record.id && isUnnamed(known.displayName)) {
    const other = await findRecord(tx, asker, { kind: "id", id: known.id, specifier: { kind: "latest" } });
    if (other !== undefined) {
      const naming = { ...update, name: record.displayName };
      await becomeVersion(tx, { asker, naming, via: "agent", fresh: false }, { record: other, target: record.id });
      return [];
    }
  }
  await refuseTakenTag(tx, scope, { id: record.id, tag });
  const version = await nextVersion(tx, scope, record.id);
  const row = { recordId: record.id, version, versionTag: tag, changeSummary, by: authorId(asker) };
  await writeVersion(tx, scope, { ...prepared, ...row });
  await insertDependencies(tx, scope, { from: record.id, version, to: update.calls });
  await setSource(tx, scope, { sourceHash: prepared.sourceHash, recordId: record.id, version });
  await setCurrentVersion(tx, scope, row);
  if (description !== undefined)
    await sql`UPDATE capability_records SET description = ${fitDescription(description)} WHERE org = ${scope.org} AND id = ${record.id}`.execute(
      tx,
    );
  await writeAudit(tx, asker, { action: "version", subject: record.displayName, details: { version, via: "agent" } });
  return [];
}

export interface Fork {
  readonly source: FoundRecord;
  readonly version: number;
  readonly name: string;
  /** The analysed source, where the facts stored with it are not to be copied. */
  readonly prepared?: PreparedSource | undefined;
}

/** Copies a version into the caller's scope as the first version of a new record. */
export async function forkRecord(
  tx: Tx,
  asker: Asker,
  { source, version, name: wanted, policy, prepared }: Fork & { readonly policy: NamePolicy },
): Promise<{ readonly id: string; readonly warnings: readonly string[] }> {
  const { scope } = asker;
  const { name, warnings } = checkForkName(wanted, source, policy);
  const holder = await findNameHolder(tx, asker, { name: name.displayName, ...policy });
  if (holder !== undefined) throw nameTaken(name.displayName, holder, scope);
  const id = newId();
  const by = authorId(asker);
  // The id serves as the hash until the copied version provides one.
  await sql`
    INSERT INTO capability_records (org, project, id, record_type, fqdn, display_name, namespace, action, hash, state, description,
      tags, routing, ttl_seconds, cache_policy, parent_id, forked_from, forked_from_fqdn, created_by, updated_by)
    SELECT ${scope.org}, ${scope.project}, ${id}, record_type, ${formatFqdn({ ...scope, ...name, hash: id })},
      ${name.displayName}, ${name.namespace}, ${name.action}, ${id}, CASE state WHEN 'draft' THEN 'draft' ELSE 'active' END,
      description, tags, routing, ttl_seconds, cache_policy, id, id, fqdn, ${by}, ${by}
    FROM capability_records WHERE org = ${source.scope.org} AND id = ${source.id}`.execute(tx);
  const from = { org: source.scope.org, id: source.id, version };
  const changeSummary = `Forked from ${source.fqdn}`;
  const row = { changeSummary, by };
  if (prepared !== undefined) await writeVersion(tx, scope, { ...prepared, ...row, recordId: id, version: 1 });
  const sourceHash =
    prepared?.sourceHash ?? (await copyVersion(tx, { from, to: { org: scope.org, id }, version: 1 }, row));
  await tx.insertInto("capability_stat").values({ org: scope.org, record_id: id }).execute();
  await tx
    .insertInto("capability_source")
    .values({ ...scope, source_hash: sourceHash, record_id: id, version: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const record = { ...source, id, scope };
  const fqdn = await setName(tx, asker, { record, name, sourceHash });
  await copyDependencies(tx, asker, { source, version, id });
  await writeAudit(tx, asker, { action: "fork", subject: name.displayName, details: { from: source.fqdn, fqdn } });
  return { id, warnings };
}

/** A copy of a server record keeps the `mcp` namespace, which `checkName` refuses for capabilities. */
function checkForkName(wanted: string, source: FoundRecord, policy: NamePolicy) {
  if (source.recordType === "capability") return checkName(wanted, source.namespace, policy);
  const action = wanted.slice(wanted.indexOf(":") + 1);
  return { name: { displayName: wanted, namespace: source.namespace, action }, warnings: [] };
}

/** Skipped across organisations: the copy calls by name, and those names resolve differently there. */
async function copyDependencies(
  tx: Tx,
  { scope }: Asker,
  { source, version, id }: { readonly source: FoundRecord; readonly version: number; readonly id: string },
): Promise<void> {
  if (source.scope.org !== scope.org) return;
  await sql`
    INSERT INTO capability_dependency (org, from_record_id, from_version, to_record_id, to_version, edge_type)
    SELECT org, ${id}, 1, to_record_id, to_version, edge_type FROM capability_dependency
    WHERE org = ${scope.org} AND from_record_id = ${source.id} AND from_version = ${version}`.execute(tx);
}

/** Builds a program that calls the steps in order; each gets `args` overlaid with the previous result. */
export function pipelineOf(
  steps: readonly { readonly name: string; readonly onlyParameter: string | undefined }[],
): string {
  const lines = steps.flatMap(({ name, onlyParameter }, index) => {
    const before = `step${index}`;
    const input =
      index === 0 ? "args" : `{ ...args, ...asArguments(${before}, ${JSON.stringify(onlyParameter ?? "input")}) }`;
    return [`const step${index + 1} = await capabilities[${JSON.stringify(name)}](${input});`];
  });
  return [
    "const asArguments = (value, name) =>",
    '  typeof value === "object" && value !== null && !Array.isArray(value) ? value : { [name]: value };',
    ...lines,
    `return step${steps.length};`,
  ].join("\n");
}

export function refuseUnnamedFork(source: FoundRecord): PmlError {
  return new PmlError("arguments_invalid", `${source.displayName} has no name for the copy to take`, {
    hint: "Pass a name for the copy.",
  });
}

import { sql } from "kysely";
import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { moveLearned } from "./adopt-store.ts";
import { authorId } from "./author-store.ts";
import { mayChange, refuseForeign } from "./find-record.ts";
import { isUnnamed, type NameParts } from "./fqdn.ts";
import { checkName, type NamePolicy, withSuffix } from "./names.ts";
import {
  findNameHolder,
  insertAliases,
  insertRename,
  type NameHolder,
  readFirstHash,
  setName,
  writeAudit,
} from "./naming-store.ts";
import type { ChangedVia, Naming } from "./registry.ts";
import { findRecord, type FoundRecord } from "./resolve-store.ts";
import type { Asker, Scope } from "./scope.ts";
import { checkVersionTag } from "./specifier.ts";
import { copyVersion, nextVersion, readVersionSummaries, setCurrentVersion, setSource } from "./version-store.ts";
import { fitDescription, fitTags } from "./record-texts.ts";
import { refusePublishing } from "./visibility.ts";

export interface ProgramToName {
  readonly asker: Asker;
  readonly id: string;
  readonly naming: Naming;
  readonly via: ChangedVia;
  /** True for a draft: its old name is not in use anywhere and needs no alias. */
  readonly fresh: boolean;
}

interface NamingOutcome {
  /** Id of the program's own record, or of the record it became a version of. */
  readonly id: string;
  readonly warnings: readonly string[];
}

/** Gives a program the requested name, or adds it as a version to the record that holds that name. */
export async function applyNaming(tx: Tx, policy: NamePolicy, program: ProgramToName): Promise<NamingOutcome> {
  const { asker, id, naming } = program;
  refusePublishing(asker, naming.name, naming.visibility);
  const record = await getById(tx, asker, id);
  const { name, warnings } = checkName(naming.name, record.namespace, policy);
  if (!isUnnamed(record.displayName)) {
    const isSame = record.displayName === name.displayName;
    // A run of somebody else's program counts as a use of it and changes nothing about it.
    if (isSame && mayChange(asker, record)) await describe(tx, asker, { id, naming });
    return { id, warnings: isSame ? warnings : [...warnings, alreadyNamed(record.displayName)] };
  }
  refuseForeign(asker, record);
  const { onConflict = "error" } = naming;
  const holder = await findNameHolder(tx, asker, { name: name.displayName, ...policy });
  if (holder !== undefined && onConflict === "version" && mayBecomeVersion(holder))
    return { id: await becomeVersion(tx, program, { record, target: holder.id }), warnings };
  if (holder !== undefined && onConflict !== "suffix")
    throw nameTaken(name.displayName, holder, asker.scope, CONFLICT_HINT);
  const free = holder === undefined ? name : await firstFree(tx, asker, { name, policy });
  await giveName(tx, program, { record, name: free });
  return { id, warnings };
}

/** Throws before a run starts if its program could not get the requested name afterwards. */
export async function checkNaming(
  db: Db,
  policy: NamePolicy,
  { asker, naming, current, defaultNamespace }: NameCheck,
): Promise<readonly string[]> {
  const { name, warnings } = checkName(naming.name, defaultNamespace, policy);
  refusePublishing(asker, name.displayName, naming.visibility);
  if (naming.versionTag !== undefined) checkVersionTag(naming.versionTag);
  if (current !== undefined && !isUnnamed(current.displayName)) {
    return current.displayName === name.displayName ? warnings : [...warnings, alreadyNamed(current.displayName)];
  }
  const holder = await findNameHolder(db, asker, { name: name.displayName, ...policy });
  if (holder === undefined || naming.onConflict === "suffix") return warnings;
  if (naming.onConflict !== "version" || !mayBecomeVersion(holder))
    throw nameTaken(naming.name, holder, asker.scope, CONFLICT_HINT);
  refuseForeign(asker, await getById(db, asker, holder.id));
  await refuseTakenTag(db, asker.scope, { id: holder.id, tag: naming.versionTag });
  return warnings;
}

export interface NameCheck {
  readonly asker: Asker;
  readonly naming: Naming;
  /** The program's existing capability, if there is one. */
  readonly current: { readonly displayName: string } | undefined;
  readonly defaultNamespace: string;
}

async function giveName(
  tx: Tx,
  { asker, naming, fresh, via }: ProgramToName,
  { record, name }: { readonly record: FoundRecord; readonly name: NameParts },
): Promise<void> {
  const { scope } = asker;
  const sourceHash = await readFirstHash(tx, scope, record.id);
  const newFqdn = await setName(tx, asker, { record, name, sourceHash });
  if (!fresh) {
    const { id: recordId, displayName: oldName, fqdn: oldFqdn } = record;
    await insertAliases(tx, asker, { recordId, name: oldName, fqdn: oldFqdn });
    await insertRename(tx, asker, { recordId, oldName, newName: name.displayName, oldFqdn, newFqdn, via });
  }
  await describe(tx, asker, { id: record.id, naming });
  if (naming.versionTag !== undefined) await ensureTag(tx, asker, { record, naming });
  await writeAudit(tx, asker, {
    action: "name",
    subject: name.displayName,
    details: { from: record.displayName, via },
  });
}

/** Versions are immutable, so a new tag for an existing version is put on a copy, which becomes current. */
async function ensureTag(
  tx: Tx,
  asker: Asker,
  { record, naming }: { readonly record: FoundRecord; readonly naming: Naming },
): Promise<void> {
  const { scope } = asker;
  const tag = checkVersionTag(naming.versionTag ?? "");
  const marks = await readVersionSummaries(tx, scope.org, record.id);
  if (marks.some(({ versionTag, version }) => versionTag === tag && version === record.version)) return;
  await refuseTakenTag(tx, scope, { id: record.id, tag });
  const version = await nextVersion(tx, scope, record.id);
  const row = { versionTag: tag, changeSummary: naming.changeSummary, by: authorId(asker) };
  const from = { org: scope.org, id: record.id, version: record.version };
  const sourceHash = await copyVersion(tx, { from, to: from, version }, row);
  await setSource(tx, scope, { sourceHash, recordId: record.id, version });
  await setCurrentVersion(tx, scope, { ...row, recordId: record.id, version });
}

/** Turns a record into the current version of another one and moves its runs and statistics along. */
export async function becomeVersion(
  tx: Tx,
  { asker, naming, fresh, via }: Omit<ProgramToName, "id">,
  { record, target: targetId }: { readonly record: FoundRecord; readonly target: string },
): Promise<string> {
  const { scope } = asker;
  const target = await getById(tx, asker, targetId);
  refuseForeign(asker, target);
  const tag = naming.versionTag === undefined ? undefined : checkVersionTag(naming.versionTag);
  await refuseTakenTag(tx, scope, { id: target.id, tag });
  const version = await nextVersion(tx, scope, target.id);
  const row = { versionTag: tag, changeSummary: naming.changeSummary, by: authorId(asker) };
  const from = { org: scope.org, id: record.id, version: record.version };
  const to = { org: scope.org, id: target.id };
  const sourceHash = await copyVersion(tx, { from, to, version }, row);
  await setSource(tx, scope, { sourceHash, recordId: target.id, version });
  await moveLearned(tx, scope, { from: record.id, to: target.id, version });
  await setCurrentVersion(tx, scope, { ...row, recordId: target.id, version });
  await sql`UPDATE capability_records SET state = 'deleted', deleted_at = now() WHERE org = ${scope.org} AND id = ${record.id}`.execute(
    tx,
  );
  if (record.state === "active")
    await sql`UPDATE capability_records SET state = 'active', archived_at = NULL WHERE org = ${scope.org} AND id = ${target.id}`.execute(
      tx,
    );
  if (!fresh) await insertAliases(tx, asker, { recordId: target.id, name: record.displayName, fqdn: record.fqdn });
  await describe(tx, asker, { id: target.id, naming });
  await writeAudit(tx, asker, { action: "version", subject: target.displayName, details: { version, via } });
  return target.id;
}

/** A record that the caller may not see takes no versions: its name is taken, and nothing else is said about it. */
function mayBecomeVersion({ kind, visible }: NameHolder): boolean {
  return kind !== "reserved" && visible;
}

async function firstFree(
  tx: Tx,
  asker: Asker,
  { name, policy }: { readonly name: NameParts; readonly policy: NamePolicy },
): Promise<NameParts> {
  for (let number = 2; ; number++) {
    const displayName = withSuffix(name.displayName, number);
    const holder = await findNameHolder(tx, asker, { name: displayName, ...policy });
    if (holder === undefined) return { ...name, displayName, action: displayName.slice(displayName.indexOf(":") + 1) };
  }
}

async function describe(
  tx: Tx,
  asker: Asker,
  { id, naming: { description, tags, visibility } }: { readonly id: string; readonly naming: Naming },
): Promise<void> {
  if (description === undefined && tags === undefined && visibility === undefined) return;
  await tx
    .updateTable("capability_records")
    .set({
      ...(description === undefined ? {} : { description: fitDescription(description) }),
      ...(tags === undefined ? {} : { tags: fitTags(tags) }),
      ...(visibility === undefined ? {} : { visibility }),
      updated_by: authorId(asker),
      updated_at: sql`now()`,
    })
    .where("org", "=", asker.scope.org)
    .where("id", "=", id)
    .execute();
}

export async function refuseTakenTag(
  db: Db | Tx,
  { org }: Scope,
  { id, tag }: { readonly id: string; readonly tag: string | undefined },
): Promise<void> {
  if (tag === undefined) return;
  const wanted = checkVersionTag(tag);
  const holder = (await readVersionSummaries(db, org, id)).find(({ versionTag }) => versionTag === wanted);
  if (holder === undefined) return;
  throw new PmlError("version_tag_taken", `Version ${holder.version} already has the tag ${wanted}`, {
    hint: "Versions never change: choose another tag.",
  });
}

async function getById(tx: Db | Tx, asker: Asker, id: string): Promise<FoundRecord> {
  const found = await findRecord(tx, asker, { kind: "id", id, specifier: { kind: "latest" } });
  if (found === undefined) throw new Error(`record ${id} does not exist`);
  return found;
}

function alreadyNamed(name: string): string {
  return `This program is the capability ${name} already; dns:rename gives it another name`;
}

/** Hint for naming a program; a rename offers no `on_conflict`. */
const CONFLICT_HINT = 'Choose another name, or pass on_conflict: "version" or "suffix".';

export function nameTaken(
  name: string,
  holder: NameHolder,
  { org, project }: Scope,
  otherwise = "Choose another name.",
): PmlError {
  const message = `Capability name '${name}' already exists in scope ${org}.${project}`;
  if (holder.kind === "reserved") {
    const until = holder.until.toISOString().slice(0, 10);
    return new PmlError("capability_name_taken", `${message}: it is reserved until ${until} for a deleted capability`, {
      hint: "Bring it back with learn:restore, or choose another name.",
    });
  }
  const hint =
    holder.kind === "alias" && holder.visible
      ? `It is a former name of ${holder.displayName}; choose another one.`
      : otherwise;
  return new PmlError("capability_name_taken", message, { hint });
}

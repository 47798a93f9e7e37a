import type { Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { nameTaken } from "./apply-naming.ts";
import { checkName, type NamePolicy } from "./names.ts";
import {
  deleteAlias,
  findNameHolder,
  insertAliases,
  insertRename,
  readFirstHash,
  setName,
  writeAudit,
} from "./naming-store.ts";
import type { ChangedVia } from "./registry.ts";
import type { FoundRecord } from "./resolve-store.ts";
import type { Asker } from "./scope.ts";

interface RenameRequest {
  readonly record: FoundRecord;
  readonly to: string;
  readonly via: ChangedVia;
  readonly policy: NamePolicy;
}

/** Renames a record, keeps the old name and FQDN as aliases, and returns the warnings. */
export async function renameRecord(
  tx: Tx,
  asker: Asker,
  { record, to, via, policy }: RenameRequest,
): Promise<readonly string[]> {
  const { scope } = asker;
  const { name, warnings } = checkName(to, record.namespace, policy);
  if (name.displayName === record.displayName) return [...warnings, `${to} is already its name`];
  const holder = await findNameHolder(tx, asker, { name: name.displayName, ...policy });
  // A record may take back one of its own aliases.
  if (holder !== undefined && !(holder.kind === "alias" && holder.id === record.id))
    throw nameTaken(name.displayName, holder, scope);
  const { id: recordId, displayName: oldName, fqdn: oldFqdn } = record;
  const newFqdn = await setName(tx, asker, { record, name, sourceHash: await readFirstHash(tx, scope, recordId) });
  await insertAliases(tx, asker, { recordId, name: oldName, ...(oldFqdn === newFqdn ? {} : { fqdn: oldFqdn }) });
  await insertRename(tx, asker, { recordId, oldName, newName: name.displayName, oldFqdn, newFqdn, via });
  await writeAudit(tx, asker, { action: "rename", subject: name.displayName, details: { from: oldName, via } });
  return warnings;
}

export async function aliasRecord(
  tx: Tx,
  asker: Asker,
  { record, alias, policy }: { readonly record: FoundRecord; readonly alias: string; readonly policy: NamePolicy },
): Promise<readonly string[]> {
  const { name, warnings } = checkName(alias, record.namespace, policy);
  const holder = await findNameHolder(tx, asker, { name: name.displayName, ...policy });
  if (holder?.id === record.id) return warnings;
  if (holder !== undefined) throw nameTaken(name.displayName, holder, asker.scope);
  await insertAliases(tx, asker, { recordId: record.id, name: name.displayName });
  await writeAudit(tx, asker, { action: "alias", subject: record.displayName, details: { alias } });
  return warnings;
}

/** Removes an alias; throws if the record does not have it. */
export async function retireAlias(
  tx: Tx,
  asker: Asker,
  { record, alias }: { readonly record: FoundRecord; readonly alias: string },
): Promise<void> {
  if (!(await deleteAlias(tx, asker.scope, { recordId: record.id, alias })))
    throw new PmlError("capability_not_found", `${record.displayName} has no alias "${alias}"`, {
      hint: `Its aliases: pml alias ls ${record.displayName}`,
    });
  await writeAudit(tx, asker, { action: "alias.retire", subject: record.displayName, details: { alias } });
}

import { parseCallName } from "../catalogue/tool-id.ts";
import { findClosest } from "../base/closest.ts";
import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { nameIn, parseReference, type Reference } from "./names.ts";
import type { ResolveOptions } from "./registry.ts";
import { findNamesByAction, findRecord, type FoundRecord, listNames } from "./resolve-store.ts";
import { type Asker, OWNER } from "./scope.ts";
import { pickVersion, type Specifier } from "./specifier.ts";
import { readVersionSummaries } from "./version-store.ts";

/** Resolves a reference; throws if the caller can see no such record. */
export async function getRecord(
  db: Db,
  asker: Asker,
  text: string,
  options: ResolveOptions = {},
): Promise<FoundRecord & { readonly reference: Reference }> {
  const reference = parseReference(text);
  const found =
    (await findRecord(db, asker, reference)) ??
    (options.inCode === true ? await findAsSpelled(db, asker, reference) : undefined);
  if (found === undefined) throw notFound(text, findClosest(nameIn(text), await listNames(db, asker)));
  return { ...found, reference };
}

/** Retries with `-` for `_`, which identifiers in code cannot contain, then by action without namespace. */
async function findAsSpelled(db: Db, asker: Asker, reference: Reference): Promise<FoundRecord | undefined> {
  if (reference.kind !== "name") return undefined;
  const hyphened = await findRecord(db, asker, { ...reference, name: reference.name.replaceAll("_", "-") });
  if (hyphened !== undefined || reference.name.includes(":")) return hyphened;
  const [only, ...others] = await findNamesByAction(db, asker, reference.name);
  return only === undefined || others.length > 0 ? undefined : findRecord(db, asker, { ...reference, name: only });
}

/** Resolves a record the caller may change; throws if it belongs to another project or principal. */
export async function getOwnRecord(db: Db | Tx, asker: Asker, text: string): Promise<FoundRecord> {
  const found = await findRecord(db, asker, parseReference(text));
  if (found === undefined) throw notFound(text, undefined);
  refuseForeign(asker, found);
  return found;
}

/** Records are changed by their author, the owner of the gateway and admins. Agents with the owner's token are the owner. */
export function mayChange({ principal, admin }: Asker, { author }: Pick<FoundRecord, "author">): boolean {
  return principal === OWNER || admin === true || author === principal;
}

/** Throws if the caller may not change a record that it sees. */
export function refuseForeign(asker: Asker, record: FoundRecord): void {
  const { org, project } = record.scope;
  const isElsewhere = org !== asker.scope.org || project !== asker.scope.project;
  if (!isElsewhere && mayChange(asker, record)) return;
  const whose = isElsewhere ? `belongs to ${org}.${project}` : "is another author's, who alone may change it";
  throw new PmlError("capability_foreign", `${record.displayName} ${whose}`, {
    hint: `Make a copy of your own with dns:fork {"source": "${record.displayName}", "name": "…"}${isElsewhere ? "." : ", or ask its author or an admin."}`,
  });
}

export async function versionOf(db: Db | Tx, record: FoundRecord, specifier: Specifier): Promise<number> {
  if (specifier.kind === "latest") return record.version;
  const versions = await readVersionSummaries(db, record.scope.org, record.id);
  return pickVersion(specifier, { name: record.displayName, current: record.version, versions });
}

/** Warning for a record that was found by an alias. */
export function aliasWarning({ alias, displayName }: FoundRecord): string | undefined {
  return alias === undefined ? undefined : `Using deprecated alias "${alias}" → "${displayName}"`;
}

export function notFound(text: string, closest: string | undefined): PmlError {
  return new PmlError("capability_not_found", `Capability not found: ${parseCallName(text)}`, {
    hint:
      closest === undefined
        ? "pml_discover, or pml discover, finds capabilities by intent."
        : `Did you mean ${closest}?`,
  });
}

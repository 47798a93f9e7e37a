import { parseCallName } from "../catalogue/tool-id.ts";
import { findClosest } from "../base/closest.ts";
import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { nameIn, parseReference, type Reference } from "./names.ts";
import type { ResolveOptions } from "./registry.ts";
import { findNamesByAction, findRecord, type FoundRecord, listNames } from "./resolve-store.ts";
import type { Asker } from "./scope.ts";
import { pickVersion, type Specifier } from "./specifier.ts";
import { readVersionMarks } from "./version-store.ts";

/** What a reference stands for; throws where the asker can see nothing of the kind. */
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

/** Code writes `_` for what an identifier cannot have, and may leave out the namespace. */
async function findAsSpelled(db: Db, asker: Asker, reference: Reference): Promise<FoundRecord | undefined> {
  if (reference.kind !== "name") return undefined;
  const hyphened = await findRecord(db, asker, { ...reference, name: reference.name.replaceAll("_", "-") });
  if (hyphened !== undefined || reference.name.includes(":")) return hyphened;
  const [only, ...others] = await findNamesByAction(db, asker, reference.name);
  return only === undefined || others.length > 0 ? undefined : findRecord(db, asker, { ...reference, name: only });
}

/** One that the asker may change: other projects' can only be looked at. */
export async function getOwnRecord(db: Db | Tx, asker: Asker, text: string): Promise<FoundRecord> {
  const found = await findRecord(db, asker, parseReference(text));
  if (found === undefined) throw notFound(text, undefined);
  const { org, project } = found.scope;
  if (org === asker.scope.org && project === asker.scope.project) return found;
  throw new PmlError("capability_foreign", `${found.displayName} belongs to ${org}.${project}`, {
    hint: "Make a copy of your own with dns:fork.",
  });
}

export async function versionOf(db: Db | Tx, record: FoundRecord, specifier: Specifier): Promise<number> {
  if (specifier.kind === "latest") return record.version;
  const versions = await readVersionMarks(db, record.scope.org, record.id);
  return pickVersion(specifier, { name: record.displayName, current: record.version, versions });
}

/** What to say where something was found by a former name. */
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

import { formatFqdn, inferNamespace, isUnnamed, type NameParts, unnamed } from "../registry/fqdn.ts";
import { nameIn, parseName } from "../registry/names.ts";
import type { Visibility } from "../registry/record-words.ts";
import { checkVersionTag } from "../registry/specifier.ts";
import type { Signing } from "../registry/signature.ts";
import { type DescribeSource, type VersionFacts, withRequired } from "./import-facts.ts";
import type { ImportPlan, PlannedRecord } from "./import-plan.ts";
import type { AliasRow, PinRow, RecordRow, RenameRow, VersionRow } from "./import-rows.ts";
import { invalidExport } from "./export-format.ts";
import type { PreparedRow } from "./prepared-rows.ts";

const SERVER_NAME = /^mcp:[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const UNNAMED_NAME = /^unnamed_[0-9a-f]{8,64}$/;

/** Notes a record before its versions are read. */
export function planRecord(plan: ImportPlan, row: RecordRow): void {
  if (plan.records.has(row.id)) throw invalidExport(`the record ${row.id} is in it twice`);
  if (plan.isFull) throw invalidExport(`it has more than ${plan.records.size} records`);
  const record: PlannedRecord = {
    id: plan.idOf(row.id),
    displayName: row.display_name,
    current: row.version,
    isLive: row.deleted_at === null || row.deleted_at === undefined,
    versions: new Map(),
    tags: new Set(),
  };
  if (!isLegalName(row)) record.refusal = "its name is not a legal one";
  plan.records.set(row.id, record);
}

function isLegalName({ record_type: type, display_name: name }: RecordRow): boolean {
  if (type === "mcp-server") return SERVER_NAME.test(name);
  return UNNAMED_NAME.test(name) || parseName(name) !== undefined;
}

export interface VersionParts {
  readonly describe: DescribeSource;
  readonly signing: Signing;
}

/** Computes what a version does from its source. A record with a version that cannot be read is left out. */
export async function planVersion(
  plan: ImportPlan,
  row: VersionRow,
  { describe, signing }: VersionParts,
): Promise<PreparedRow | undefined> {
  const record = plan.find(row.record_id);
  if (record === undefined) return undefined;
  if (record.versions.has(row.version)) throw invalidExport(`version ${row.version} of ${record.id} is in it twice`);
  let facts: VersionFacts;
  try {
    facts = await describe(row);
  } catch (error) {
    record.refusal = `version ${row.version} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return undefined;
  }
  const { sourceHash: hash, toolsUsed, calls } = facts;
  if (hash !== row.source_hash)
    plan.note(`${record.displayName}: the hash of version ${row.version} did not fit its source and is computed anew`);
  record.versions.set(row.version, { hash, toolsUsed, calls });
  return {
    ...plan.scope,
    record_id: record.id,
    version: row.version,
    version_tag: freeTag(record, row),
    source_kind: row.source_kind,
    code_snippet: facts.source === null || row.source_kind === "server" ? row.code_snippet : null,
    source: facts.source,
    source_hash: hash,
    behaviour_key: facts.behaviourKey ?? null,
    structure: facts.structure,
    ...signedContent(signing, row, facts),
    tools_used: toolsUsed,
    change_summary: row.change_summary,
    created_at: plan.past(row.created_at),
  };
}

/**
 * A signature by a trusted key over this very source vouches for its parameters, and stays. Any other one is replaced
 * by the hash, since it says nothing about the version as it is stored here.
 */
function signedContent(signing: Signing, row: VersionRow, facts: VersionFacts): PreparedRow {
  const { sourceHash, toolsUsed } = facts;
  const content = {
    sourceHash,
    text: row.code_snippet ?? undefined,
    source: facts.source ?? undefined,
    toolsUsed,
  };
  const computed = withRequired(facts.parameters, row.parameters_schema);
  for (const parameters of [computed, row.parameters_schema ?? null]) {
    if (isTrusted(signing, { ...content, parameters: parameters ?? undefined }, row.signature))
      return { parameters_schema: parameters, signature: row.signature };
  }
  return { parameters_schema: computed, signature: `sha256:${sourceHash}` };
}

function isTrusted(
  signing: Signing,
  version: Parameters<Signing["verify"]>[0],
  signature: string | null | undefined,
): boolean {
  try {
    return signing.verify(version, signature ?? undefined) === "trusted";
  } catch {
    return false; // it covers other parameters or another source
  }
}

function freeTag(record: PlannedRecord, { version_tag: tag, source_kind: kind }: VersionRow): string | null {
  if (tag === null || tag === undefined || record.tags.has(tag)) return null;
  if (kind !== "server" && !isTag(tag)) return null;
  record.tags.add(tag);
  return tag;
}

function isTag(text: string): boolean {
  try {
    return checkVersionTag(text) === text;
  } catch {
    return false;
  }
}

/** Refuses records whose current version is not in the file, once all versions have been read. */
export function closePlan({ records }: ImportPlan): void {
  for (const record of records.values()) {
    if (!record.versions.has(record.current)) record.refusal ??= `its version ${record.current} is missing`;
  }
}

export function prepareRecord(plan: ImportPlan, row: RecordRow): PreparedRow | undefined {
  const record = plan.records.get(row.id);
  if (record?.refusal !== undefined) plan.note(`${row.display_name} was left out: ${record.refusal}`);
  if (record === undefined || record.refusal !== undefined) return undefined;
  return {
    ...plan.scope,
    id: record.id,
    record_type: row.record_type,
    ...namesOf(plan, row, record),
    state: row.state,
    state_before: row.state_before,
    version: row.version,
    version_tag: record.tags.has(row.version_tag ?? "") ? row.version_tag : null,
    visibility: lowerVisibility(plan, row),
    description: row.description,
    tags: row.tags,
    ttl_seconds: row.ttl_seconds,
    cache_policy: row.cache_policy,
    ...historyOf(plan, row),
  };
}

function historyOf(plan: ImportPlan, row: RecordRow): PreparedRow {
  return {
    parent_id: row.parent_id && plan.idOf(row.parent_id),
    forked_from: row.forked_from && plan.idOf(row.forked_from),
    forked_from_fqdn: row.forked_from_fqdn,
    created_at: plan.past(row.created_at),
    updated_at: plan.past(row.updated_at),
    archived_at: row.archived_at && plan.past(row.archived_at),
    deleted_at: row.deleted_at && plan.past(row.deleted_at),
  };
}

/** Shortest prefix of a source hash in an FQDN. */
const SHORTEST_HASH = 4;

/** The names of a record. Parts that claim a source hash are kept where the computed one agrees. */
function namesOf(plan: ImportPlan, row: RecordRow, record: PlannedRecord): PreparedRow {
  const first = firstVersion(record);
  const { displayName, namespace, action } = nameOf(row, first);
  if (displayName !== row.display_name) plan.note(`${row.display_name} is ${displayName} here`);
  const isTrue = row.hash.length >= SHORTEST_HASH && first.hash.startsWith(row.hash);
  const hash = isTrue ? row.hash : first.hash.slice(0, 2 * SHORTEST_HASH);
  const fqdn = formatFqdn({ ...plan.scope, namespace, action, hash });
  if (record.isLive) for (const each of [displayName, fqdn]) plan.names.set(each, row.id);
  return { fqdn, display_name: displayName, namespace, action, hash };
}

/** A file cannot publish: other projects and organisations see a record after somebody here shares it. */
function lowerVisibility(plan: ImportPlan, { visibility, display_name: name }: RecordRow): Visibility {
  if (visibility === "private" || visibility === "project") return visibility;
  plan.note(
    `${name} was ${visibility} and is visible in this project only; pml share ${name} ${visibility} shares it again`,
  );
  return "project";
}

function nameOf(row: RecordRow, first: { readonly hash: string; readonly toolsUsed: readonly string[] }): NameParts {
  const { display_name: displayName } = row;
  if (row.record_type === "mcp-server")
    return { displayName, namespace: "mcp", action: displayName.slice(displayName.indexOf(":") + 1) };
  if (isUnnamed(displayName)) {
    const length = displayName.length - "unnamed_".length;
    const computed = unnamed(first.hash, first.toolsUsed, length);
    return computed.displayName === displayName && NAMESPACE.test(row.namespace)
      ? { ...computed, namespace: row.namespace }
      : computed;
  }
  const { namespace, action } = parseName(displayName) ?? { namespace: undefined, action: displayName };
  const inferred = NAMESPACE.test(row.namespace) ? row.namespace : inferNamespace(first.toolsUsed);
  return { displayName, namespace: namespace ?? inferred, action };
}

const NAMESPACE = /^[a-z][a-z0-9]{0,49}$/;

function firstVersion({ versions }: PlannedRecord): { readonly hash: string; readonly toolsUsed: readonly string[] } {
  const [first] = [...versions].toSorted(([a], [b]) => a - b);
  if (first === undefined) throw new Error("a record without versions was planned");
  return first[1];
}

export function prepareAlias(plan: ImportPlan, row: AliasRow): PreparedRow | undefined {
  const record = plan.find(row.record_id);
  if (record === undefined) return undefined;
  const isName = UNNAMED_NAME.test(row.alias) || SERVER_NAME.test(row.alias) || parseName(row.alias) !== undefined;
  const alias =
    row.kind === "fqdn" ? plan.moveFqdn(row.alias, firstVersion(record).hash) : isName ? row.alias : undefined;
  if (alias === undefined) {
    plan.note(`${record.displayName}: a former name was left out`);
    return undefined;
  }
  if (record.isLive) plan.names.set(alias, row.record_id);
  return { ...plan.scope, alias, kind: row.kind, record_id: record.id, created_at: plan.past(row.created_at) };
}

export function prepareRename(plan: ImportPlan, row: RenameRow): PreparedRow | undefined {
  const record = plan.find(row.record_id);
  if (record === undefined) return undefined;
  const { hash } = firstVersion(record);
  const [oldFqdn, newFqdn] = [plan.moveFqdn(row.old_fqdn, hash), plan.moveFqdn(row.new_fqdn, hash)];
  if (oldFqdn === undefined || newFqdn === undefined) return undefined;
  return {
    org: plan.scope.org,
    id: plan.idOf(row.id),
    record_id: record.id,
    old_name: row.old_name,
    new_name: row.new_name,
    old_fqdn: oldFqdn,
    new_fqdn: newFqdn,
    renamed_via: row.renamed_via,
    renamed_at: plan.past(row.renamed_at),
  };
}

/** The version of a called capability that a program keeps to, by `pinKey`. */
export type Pins = ReadonlyMap<string, PinRow>;

export function pinKey(from: string, version: number, to: string): string {
  return `${from} ${version} ${to}`;
}

/** Connects programs with the taken capabilities that their text calls. A pin in the file counts for those alone. */
export function* prepareDependencies(plan: ImportPlan, pins: Pins): Generator<PreparedRow> {
  for (const [id, record] of plan.records) {
    if (record.refusal !== undefined) continue;
    for (const [version, { calls }] of record.versions) {
      const called = new Set(calls.flatMap((call) => plan.names.get(nameIn(call)) ?? []));
      called.delete(id);
      for (const to of called) yield dependency(plan, { id, record, version, to }, pins);
    }
  }
}

interface Call {
  readonly id: string;
  readonly record: PlannedRecord;
  readonly version: number;
  readonly to: string;
}

function dependency(plan: ImportPlan, { id, record, version, to }: Call, pins: Pins): PreparedRow {
  const pin = pins.get(pinKey(id, version, to));
  const target = plan.find(to);
  return {
    org: plan.scope.org,
    from_record_id: record.id,
    from_version: version,
    to_record_id: plan.idOf(to),
    to_version: target?.versions.has(pin?.to_version ?? 0) === true ? pin?.to_version : null,
    created_at: pin === undefined ? plan.now.toISOString() : plan.past(pin.created_at),
  };
}

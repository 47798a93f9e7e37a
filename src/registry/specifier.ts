import { PmlError } from "../base/errors.ts";

/** Selects a version of a record. */
export type Specifier =
  | { readonly kind: "latest" }
  /** The given parts of a semantic version, at least the major one. */
  | { readonly kind: "tag"; readonly text: string; readonly parts: readonly number[] }
  /** The version that was current at the end of that day, UTC. */
  | { readonly kind: "date"; readonly text: string; readonly before: Date }
  | { readonly kind: "unknown"; readonly text: string };

/** Facts about a version that specifiers select by. */
export interface VersionSummary {
  readonly version: number;
  readonly versionTag: string | undefined;
  readonly createdAt: Date;
}

const TAG_SPECIFIER = /^v(\d+)(?:\.(\d+))?(?:\.(\d+)(?:-[0-9A-Za-z.-]+)?)?$/;
const DATE_SPECIFIER = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

export function parseSpecifier(text: string): Specifier {
  if (text === "latest") return { kind: "latest" };
  const parts = TAG_SPECIFIER.exec(text);
  if (parts !== null) {
    const given = parts.slice(1) as (string | undefined)[];
    return { kind: "tag", text, parts: given.filter((part) => part !== undefined).map(Number) };
  }
  const day = DATE_SPECIFIER.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(day) ? { kind: "unknown", text } : { kind: "date", text, before: new Date(day + DAY_MS) };
}

/** Picks the version that the specifier selects; throws if there is none. */
export function pickVersion(
  specifier: Specifier,
  {
    name,
    current,
    versions,
  }: { readonly name: string; readonly current: number; readonly versions: readonly VersionSummary[] },
): number {
  if (specifier.kind === "latest") return current;
  const picked = pick(specifier, versions);
  if (picked !== undefined) return picked;
  throw new PmlError("version_not_found", `Version ${specifier.text} not found for ${name}`, {
    hint: `There are ${versions.map(describeVersion).join(", ")}.`,
  });
}

function pick(
  specifier: Exclude<Specifier, { kind: "latest" }>,
  versions: readonly VersionSummary[],
): number | undefined {
  switch (specifier.kind) {
    case "tag": {
      const exact = versions.find(({ versionTag }) => versionTag === specifier.text);
      const [best] = versions
        .filter(({ versionTag }) => startsWith(semverOf(versionTag), specifier.parts))
        .toSorted((a, b) => compareTags(b.versionTag ?? "", a.versionTag ?? ""));
      const [major] = specifier.parts;
      const numbered = specifier.parts.length === 1 ? versions.find(({ version }) => version === major) : undefined;
      // A full version matches exactly or not at all.
      return (exact ?? (specifier.parts.length === WHOLE ? undefined : (best ?? numbered)))?.version;
    }
    case "date":
      return versions
        .filter(({ createdAt }) => createdAt < specifier.before)
        .reduce<number | undefined>((latest, { version }) => Math.max(latest ?? 0, version), undefined);
    case "unknown":
    default:
      return undefined;
  }
}

const WHOLE = 3;
const TAG = /^v(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/** Normalises `1.2.0` to `v1.2.0`; throws if it is not a semantic version. */
export function checkVersionTag(text: string): string {
  const tag = text.startsWith("v") ? text : `v${text}`;
  if (TAG.test(tag)) return tag;
  throw new PmlError("arguments_invalid", `"${text}" is no version tag`, {
    hint: "Write it as a semantic version, for example v1.2.0.",
  });
}

function semverOf(tag: string | undefined): readonly number[] {
  return (TAG.exec(tag ?? "")?.slice(1, 1 + WHOLE) ?? []).map(Number);
}

function startsWith(whole: readonly number[], parts: readonly number[]): boolean {
  return whole.length > 0 && parts.every((part, index) => whole[index] === part);
}

/** Orders by semantic version, pre-releases before their release. */
function compareTags(a: string, b: string): number {
  const [left, right] = [semverOf(a), semverOf(b)];
  for (const [index, part] of left.entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(TAG.exec(a)?.[WHOLE + 1], TAG.exec(b)?.[WHOLE + 1]);
}

function comparePrereleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a.localeCompare(b, "en", { numeric: true });
}

function describeVersion({ version, versionTag }: VersionSummary): string {
  return versionTag === undefined ? `v${version}` : `v${version} (${versionTag})`;
}

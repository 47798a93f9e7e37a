import { tools } from "../../../src/contract/tools.ts";
import { type ComparedVersion, diffVersions, type VersionDiff } from "../../../src/registry/diff/version-diff.ts";
import type { CapabilityVersion } from "../../../src/registry/record.ts";
import { parseSpecifier, pickVersion } from "../../../src/registry/specifier.ts";
import { PmlError } from "../../../src/base/errors.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { describeVersion } from "./describe-record.ts";
import { type DnsParts, json, reads } from "./dns-parts.ts";

/** Lists versions with their differences, or compares two of them. */
export function createHistory({ registry, scope, facts }: DnsParts): OwnTool {
  return defineTool({
    ...tools["dns:history"],
    title: "Versions of a record",
    description:
      "All versions behind a name, newest first, with how each differs from the one before: source, structure, tools, and parameters with what breaks callers.",
    annotations: reads,
    async run({ name, compare }, context) {
      const asker = askerOf(scope, context);
      const record = await registry.lookup(asker, name.split("@", 1)[0] ?? name);
      const texts = await facts.serverTexts(record);
      const versions = await registry.history(asker, name);
      const compared = versions.map((each) => toCompared(each, texts));
      if (compare !== undefined) {
        const marks = { name: record.displayName, current: record.version, versions };
        const [from, to] = pickTwo(compare, marks);
        const find = (number: number): ComparedVersion =>
          compared[versions.findIndex((each) => each.version === number)]!;
        return json({ name, comparison: { from, to, diff: diffVersions(find(from), find(to)) } });
      }
      return json({
        name,
        versions: versions.map((each, index) => ({
          ...describeVersion(each),
          ...(texts.has(each.version) ? { server_json: JSON.parse(texts.get(each.version) ?? "null") as unknown } : {}),
          diff: diffWithOlder(compared, index),
        })),
      });
    },
  });
}

function toCompared(each: CapabilityVersion, texts: ReadonlyMap<number, string>): ComparedVersion {
  const { source = { type: "code", code: texts.get(each.version) ?? "" }, structure, parameters, toolsUsed } = each;
  return { source, structure, parameters, toolsUsed };
}

/** Compares a version with the older one, which comes after it. */
function diffWithOlder(versions: readonly ComparedVersion[], index: number): VersionDiff | null {
  const [current, older] = [versions[index], versions[index + 1]];
  return current === undefined || older === undefined ? null : diffVersions(older, current);
}

interface Marks {
  readonly name: string;
  readonly current: number;
  readonly versions: readonly CapabilityVersion[];
}

/** Picks a version; a bare number is that version, whatever tags there are. */
function pickOne(text: string, marks: Marks): number {
  const numbered = marks.versions.find((each) => String(each.version) === text);
  return numbered?.version ?? pickVersion(parseSpecifier(text), marks);
}

function pickTwo(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  marks: Marks,
): [from: number, to: number] {
  const last = pickOne(to ?? "latest", marks);
  if (from !== undefined) return [pickOne(from, marks), last];
  const before = marks.versions.map((each) => each.version).find((number) => number < last);
  if (before !== undefined) return [before, last];
  throw new PmlError("version_not_found", `${marks.name} has no version before ${last}`, {
    hint: "There is nothing to compare it with.",
  });
}

import type { JsonObject } from "../base/json.ts";
import { contentHash } from "../base/content-hash.ts";
import { PmlError } from "../base/errors.ts";
import { capabilitySource } from "../contract/structure.ts";
import type { AnalysedPrograms } from "../execution/analysed-programs.ts";
import { describeSource } from "../execution/describe-source.ts";
import type { DescribeSource, ImportedSource, VersionFacts } from "../housekeeping/import-facts.ts";
import type { CapabilitySource } from "../registry/capability.ts";
import { parseServerJson } from "../registry/server-records/server-json.ts";

/** Computes the facts about imported versions as for programs that are written here. */
export function createDescribe(analysed: AnalysedPrograms): DescribeSource {
  return async (imported) => {
    if (imported.source_kind === "server") return describeServer(imported.code_snippet ?? "");
    const { source, sourceHash, structure, parameters, toolsUsed, calls, behaviourKey } = await describeSource(
      analysed,
      readSource(imported),
    );
    return {
      source: source.type === "code" ? null : (source as JsonObject),
      sourceHash,
      structure,
      parameters,
      toolsUsed,
      calls,
      behaviourKey,
    };
  };
}

/** More than anybody writes; layers of tasks are found by recursion. */
const MOST_TASKS = 1_000;

function readSource({ source_kind: kind, code_snippet: code, source }: ImportedSource): CapabilitySource {
  if (kind === "code") return { type: "code", code: code ?? "" };
  const parsed = capabilitySource.safeParse(source);
  if (parsed.data?.type === "dag" && parsed.data.dagStructure.tasks.length > MOST_TASKS)
    throw new PmlError("arguments_invalid", `it has more than ${MOST_TASKS} tasks`);
  if (parsed.success && parsed.data.type === kind) return parsed.data as CapabilitySource;
  throw new PmlError("arguments_invalid", `its source is no ${kind}`);
}

function describeServer(text: string): VersionFacts {
  const document = parseServerJson(text);
  return {
    source: { registryName: document.name },
    sourceHash: contentHash(document),
    structure: null,
    parameters: null,
    toolsUsed: [],
    calls: [],
  };
}

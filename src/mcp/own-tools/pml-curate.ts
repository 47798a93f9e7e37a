import type { z } from "zod";
import { tools } from "../../contract/tools.ts";
import type { Sent } from "../../contract/wire.ts";
import type { Scope } from "../../registry/scope.ts";
import type { CurationFilter, CurationRequest, Curator } from "../../naming/curation/curator.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { askerOf, type CallContext, defineTool, type OwnAnswer, type OwnTool } from "./own-tool.ts";
import { createSamplingModel } from "../server/sampling-model.ts";

export interface CurateParts {
  readonly curator: Curator;
  readonly scope: Scope;
}

type Input = z.output<typeof tools.pml_curate_capabilities.input>;
type Answer = OwnAnswer<Sent<typeof tools.pml_curate_capabilities.answer>>;

/** Makes the tool under one of its two names. */
export function createCurate(parts: CurateParts, name: "pml_curate_capabilities" | "learn:curate"): OwnTool {
  return defineTool({
    ...tools[name],
    title: "Name capabilities",
    description: "Suggest and give names to capabilities that have none. Old names keep working.",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    run: (values, context) => curate(parts, values, context),
  });
}

async function curate(parts: CurateParts, values: Input, context: CallContext): Promise<Answer> {
  const { curator } = parts;
  const { strategy } = values;
  if (strategy === "apply") return applyRenames(parts, values, context);
  const request = toRequest(parts, values, context);
  if (strategy === "suggest") {
    const { suggestions, warnings, nextCursor } = await curator.suggest(request);
    return { kind: "json", value: { strategy, suggestions, warnings, next_cursor: nextCursor ?? null } };
  }
  const { applied, failed, waiting, warnings, nextCursor } = await curator.auto(request);
  const summary = `${applied.length} named, ${waiting.length} left to decide, ${failed.length} failed`;
  const value = { strategy, summary, applied, waiting, failed, warnings, next_cursor: nextCursor ?? null };
  return { kind: "json", value };
}

async function applyRenames(
  { curator, scope }: CurateParts,
  { renames = [], rejects = [] }: Input,
  context: CallContext,
): Promise<Answer> {
  const asker = askerOf(scope, context);
  const { applied, failed } = await curator.apply(asker, renames, "agent");
  const turnedDown = await curator.reject(asker, rejects, "agent");
  const problems = [...failed, ...turnedDown.failed];
  const nothing = applied.length + turnedDown.rejected.length === 0 && problems.length > 0;
  const summary = `${applied.length} renamed, ${turnedDown.rejected.length} turned down, ${problems.length} failed`;
  return {
    kind: "json",
    value: { strategy: "apply", summary, applied, rejected: turnedDown.rejected, failed: problems },
    ...(nothing ? { failed: true } : {}),
  };
}

/** Smaller than for people: an agent has the whole page, with reasons, in its context. */
const PAGE = 100;

function toRequest({ scope }: CurateParts, { filter, cursor }: Input, context: CallContext): CurationRequest {
  const { unnamed_only: unnamedOnly, namespace, min_usage: minUsage } = filter;
  const { sample, signal } = context;
  return {
    asker: askerOf(scope, context),
    filter: withoutUndefined({ unnamedOnly, namespace, minUsage }) satisfies CurationFilter,
    signal,
    limit: PAGE,
    cursor,
    ...(sample === undefined ? {} : { model: createSamplingModel(sample) }),
  };
}

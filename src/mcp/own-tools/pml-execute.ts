import type { z } from "zod";
import type { RunAnswer } from "../../contract/execute.ts";
import { tools } from "../../contract/tools.ts";
import type { Sent } from "../../contract/wire.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Curator } from "../../naming/curation/curator.ts";
import type { Outcomes } from "../../discovery/recall/outcomes.ts";
import type { Suggest } from "../../discovery/suggest.ts";
import { PmlError } from "../../base/errors.ts";
import type { Engine } from "../../execution/run-engine.ts";
import { SyntaxFailure } from "../../execution/analysed-programs.ts";
import type { NewProgram, RunRequest } from "../../execution/requests.ts";
import type { JsonObject } from "../../base/json.ts";
import { stripInvisible } from "../../base/visible.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { type CallContext, defineTool, type OwnTool } from "./own-tool.ts";
import { toRunCaller } from "./run-caller.ts";
import { fitDescription } from "../../registry/record-texts.ts";
import { readCapabilityName } from "../../catalogue/wire-names.ts";

export interface ExecuteParts {
  readonly engine: Engine;
  readonly scope: Scope;
  /** The page of an approval. */
  readonly approvalUrl: (id: string) => string;
  readonly suggest: Suggest;
  readonly outcomes: Pick<Outcomes, "ran">;
  /** Finds the tool of a server by its wire name or id. */
  readonly findToolId: (name: string) => string | undefined;
  readonly curator: Pick<Curator, "adviseName">;
}

type Input = z.output<typeof tools.pml_execute.input>;
type Answer = Sent<typeof tools.pml_execute.answer>;
type RunReport = Exclude<Answer, { readonly status: "suggestions" }>;

/** Runs programs and capabilities, and finds them where only an intent is given. */
export function createExecute(parts: ExecuteParts): OwnTool {
  return defineTool({
    ...tools.pml_execute,
    title: "Run code over all tools",
    description:
      "Run TypeScript over all tools behind this gateway in one go, sandboxed; what worked is kept as a capability, to be run again by name. With intent alone: suggestions. With intent and context: runs a capability that fits.",
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    meta: { "anthropic/alwaysLoad": true },
    async run(given, context) {
      const started = performance.now();
      const values = cleanWords(given);
      const value = await answerRequest(parts, values, context)
        .then((answer) => withAdvice(parts, answer))
        .catch((error: unknown) => describeError(error, started));
      return { kind: "json", value, ...(value.status === "error" ? { failed: true as const } : {}) };
    },
  });
}

/** Removes invisible characters from words that are kept with the run and shown to people. */
function cleanWords(values: Input): Input {
  const { intent, description, tags, change_summary: summary } = values;
  return {
    ...values,
    intent: stripInvisible(intent),
    description: description === undefined ? undefined : stripInvisible(description),
    tags: tags?.map((tag) => stripInvisible(tag)),
    change_summary: summary === undefined ? undefined : stripInvisible(summary),
  };
}

/** Adds the advice to name a capability that is used often. */
async function withAdvice({ curator, scope }: ExecuteParts, answer: Answer): Promise<Answer> {
  if (answer.status !== "success") return answer;
  const { capabilityId: id, capabilityName: name, warnings } = answer;
  if (typeof id !== "string" || typeof name !== "string") return answer;
  const advice = await curator.adviseName(scope, { id, name });
  return advice === undefined ? answer : { ...answer, warnings: [...warnings, advice] };
}

async function answerRequest(parts: ExecuteParts, values: Input, context: CallContext): Promise<Answer> {
  const { engine, scope } = parts;
  const reach = { caller: toRunCaller(context), signal: context.signal };
  refuseTwoSources(values);
  const { continue_workflow: going, intent } = values;
  if (going !== undefined) {
    // a form answers for the connection that was asked, and any connection may go on with a run
    const { form: _form, ...caller } = reach.caller;
    const answer =
      going.approved === false
        ? engine.abandonRun(scope, going.workflow_id, caller)
        : engine.continueRun(scope, going.workflow_id, { ...reach, caller });
    return withLinks(parts, await answer);
  }
  const request = toRequest(values, parts.findToolId);
  const { principal } = context;
  if (request !== undefined) {
    const answer = await engine.execute(scope, request, reach);
    if (answer.status === "success" && answer.capabilityId !== undefined)
      await parts.outcomes.ran({ principal, intent }, answer.capabilityId);
    return withLinks(parts, answer);
  }
  const given = argumentsOf(values);
  const contextTags = values.options.context_tags ?? [];
  const { detail } = values.options;
  const { report, runnable } = await parts.suggest({ intent, given, principal, contextTags, detail });
  const mode = given === undefined ? "suggestion" : "speculation";
  const suggestions = { status: "suggestions", mode, ...report } as const;
  if (given === undefined || runnable === undefined) return suggestions;
  const speculated: RunRequest = {
    kind: "capability",
    capability: runnable.name,
    args: runnable.args,
    intent,
    options: toOptions(values),
  };
  const problem = await engine.whyNotAtOnce(scope, speculated, reach.caller);
  if (problem !== undefined)
    return {
      ...suggestions,
      reason: `${runnable.name} fits, but ${problem}. To run it all the same: accept_suggestion.`,
    };
  const answer = await engine.execute(scope, speculated, reach);
  return { ...withLinks(parts, answer), mode: "speculation", confidence: report.suggestions.confidence };
}

const SOURCES = ["code", "capability", "dag", "continue_workflow", "accept_suggestion"] as const;

function refuseTwoSources(values: Input): void {
  const given = SOURCES.filter((source) => values[source] !== undefined);
  if (given.length > 1) throw new PmlError("arguments_invalid", `Give at most one of ${given.join(" and ")}`);
}

function canonicalName(name: string): string {
  return readCapabilityName(name).canonical;
}

function toRequest(values: Input, findToolId: ExecuteParts["findToolId"]): RunRequest | undefined {
  const { intent, code, capability, dag, accept_suggestion: accepted } = values;
  const common = { intent, options: toOptions(values), args: argumentsOf(values) ?? {} };
  if (capability !== undefined) return { ...common, kind: "capability", capability: canonicalName(capability) };
  if (accepted !== undefined) {
    const { callName, args: given = common.args } = accepted;
    const tool = findToolId(callName);
    if (tool === undefined) return { ...common, kind: "capability", capability: canonicalName(callName), args: given };
    const defaults = values.name === undefined ? {} : given;
    return { ...common, ...newProgram(values), kind: "tool", tool, args: given, defaults };
  }
  if (code !== undefined) return { ...common, ...newProgram(values), kind: "code", code };
  if (dag === undefined) return undefined;
  const tasks = dag.tasks.map(({ depends_on: dependsOn, safe_to_fail: safeToFail, ...task }) =>
    withoutUndefined({ ...task, dependsOn, safeToFail }),
  );
  return { ...common, ...newProgram(values), kind: "dag", dag: { tasks } };
}

function newProgram(values: Input): NewProgram {
  const { intent, name, description, tags, on_conflict: onConflict, version_tag: versionTag, visibility } = values;
  const { change_summary: changeSummary } = values;
  const naming =
    name === undefined
      ? undefined
      : withoutUndefined({ name, onConflict, versionTag, changeSummary, description, tags, visibility });
  return withoutUndefined({ naming, description: description ?? fitDescription(intent), tags });
}

function toOptions({ options }: Input): RunRequest["options"] {
  return withoutUndefined({
    timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
    perLayerValidation: options.per_layer_validation,
    dryRun: options.dry_run,
    contextTags: options.context_tags,
  });
}

function argumentsOf({ args: given, context }: Input): JsonObject | undefined {
  return given === undefined && context === undefined ? undefined : { ...context, ...given };
}

/** Adds the address where a person decides. */
export function withLinks({ approvalUrl }: Pick<ExecuteParts, "approvalUrl">, answer: RunAnswer): RunReport {
  if (answer.status !== "approval_required") return answer;
  const { id } = answer.approval;
  const ready =
    answer.ready === undefined
      ? ""
      : `${JSON.stringify(answer.ready)} may do the same and needs no question. Otherwise: `;
  return {
    ...answer,
    approval: { ...answer.approval, url: approvalUrl(id) },
    next: `${ready}A person decides at ${approvalUrl(id)}. When they have, call pml_execute with continue_workflow: {"workflow_id": "${answer.workflowId ?? ""}"}.`,
  };
}

function describeError(error: unknown, started: number): Answer {
  const base = { status: "error", executionTimeMs: performance.now() - started, warnings: [] } as const;
  if (error instanceof SyntaxFailure) {
    const { message, line, column, excerpt } = error.problem;
    return { ...base, error: { code: "syntax_error", message, line, column, hint: `Line ${line}: ${excerpt.trim()}` } };
  }
  if (!(error instanceof PmlError)) throw error;
  const { code, message, hint } = error;
  return { ...base, error: withoutUndefined({ code, message, hint }) };
}

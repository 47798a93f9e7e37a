import { z } from "zod";
import { VISIBILITIES } from "../../registry/record.ts";
import { CONFLICT_POLICIES } from "../../registry/registry.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Curator } from "../../naming/curation/curator.ts";
import type { Suggest } from "../../discovery/suggest.ts";
import { PmlError } from "../../base/errors.ts";
import type { Engine } from "../../execution/run-engine.ts";
import { SyntaxFailure } from "../../execution/analysed-programs.ts";
import type { ExecuteAnswer, ExecuteRequest, NewProgram } from "../../execution/requests.ts";
import type { JsonObject } from "../../base/json.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { type CallContext, defineTool, type OwnTool } from "./own-tool.ts";
import { toRunCaller } from "./run-caller.ts";
import { readCapabilityName } from "../../catalogue/wire-names.ts";

export interface ExecuteParts {
  readonly engine: Engine;
  readonly scope: Scope;
  /** Where a person can look at an approval. */
  readonly approvalUrl: (id: string) => string;
  readonly suggest: Suggest;
  /** The tool of a server that is called so on the wire or by its id. */
  readonly findToolId: (name: string) => string | undefined;
  readonly curator: Pick<Curator, "adviseName">;
}

const json = z.json();
const args = z.record(z.string(), json);

const dagTask = z.strictObject({
  id: z.string().min(1),
  tool: z
    .string()
    .regex(/^[^:]+:.+$/, "a tool is written server:tool")
    .describe("server:tool"),
  arguments: args.optional().describe('{"$ref":"step.field"} is a result, {"$ref":"args.x"} an argument.'),
  depends_on: z.array(z.string()).optional(),
  condition: z.string().optional().describe("[!]step.field, or step.field == JSON."),
  safe_to_fail: z.boolean().optional(),
});

const input = z.strictObject({
  intent: z.string().min(1).describe("Your goal, in plain words."),
  code: z
    .string()
    .min(1)
    .optional()
    .describe(
      "TypeScript, body of an async function: await mcp.<server>.<tool>({…}), await capabilities.<namespace>.<action>({…}), read args, return JSON. No imports, files or network.",
    ),
  capability: z.string().min(1).optional().describe("Name of one to run; @v1, @v1.2.0 or @2025-12-22 for a version."),
  args: args.optional(),
  context: args.optional().describe("Like args; without code or capability, PML looks for one."),
  dag: z
    .strictObject({ tasks: z.array(dagTask).min(1) })
    .optional()
    .describe("Steps instead of code."),
  continue_workflow: z
    .strictObject({ workflow_id: z.uuid(), approved: z.boolean().optional() })
    .optional()
    .describe("Go on with a run that waits; approved: false ends it."),
  accept_suggestion: z
    .strictObject({ callName: z.string().min(1), args: args.optional() })
    .optional()
    .describe("Run what was suggested. With a name, a tool becomes a capability with args as defaults."),
  name: z.string().optional().describe("For the new capability: namespace:action."),
  on_conflict: z.enum(CONFLICT_POLICIES).optional().describe("If the name is taken."),
  version_tag: z.string().optional().describe("v1.2.0"),
  change_summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  options: z
    .strictObject({
      timeout: z.number().positive().optional().describe("Seconds."),
      per_layer_validation: z.boolean().optional().describe("Stop after each layer of calls."),
      dry_run: z.boolean().optional().describe("Only say what would be called."),
      context_tags: z.array(z.string()).optional(),
    })
    .prefault({}),
});

type Input = z.output<typeof input>;

/** Runs programs and capabilities, and finds them where only an intent is given. */
export function createExecute(parts: ExecuteParts): OwnTool {
  return defineTool({
    name: "pml_execute",
    title: "Run code over all tools",
    description:
      "Run TypeScript over all tools behind this gateway in one go, sandboxed; what worked is kept as a capability, to be run again by name. With intent alone: suggestions. With intent and context: runs a capability that fits.",
    input,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    meta: { "anthropic/alwaysLoad": true },
    async run(values, context) {
      const started = performance.now();
      const value = await answerRequest(parts, values, context)
        .then((answer) => withAdvice(parts, answer))
        .catch((error: unknown) => describeError(error, started));
      return { kind: "json", value, ...(value.status === "error" ? { failed: true as const } : {}) };
    },
  });
}

type Answer = Readonly<Record<string, unknown>> & { readonly status: string };

/** What is used often deserves a name. */
async function withAdvice({ curator, scope }: ExecuteParts, answer: Answer): Promise<Answer> {
  const { status, capabilityId: id, capabilityName: name, warnings } = answer;
  if (status !== "success" || typeof id !== "string" || typeof name !== "string") return answer;
  const advice = await curator.adviseName(scope, { id, name });
  return advice === undefined
    ? answer
    : { ...answer, warnings: [...(Array.isArray(warnings) ? warnings : []), advice] };
}

async function answerRequest(parts: ExecuteParts, values: Input, context: CallContext): Promise<Answer> {
  const { engine, scope } = parts;
  const reach = { caller: toRunCaller(context), signal: context.signal };
  refuseTwoSources(values);
  const { continue_workflow: going, intent } = values;
  if (going !== undefined) {
    const answer =
      going.approved === false
        ? engine.abandonRun(scope, going.workflow_id, reach.caller)
        : engine.continueRun(scope, going.workflow_id, reach);
    return withLinks(parts, await answer);
  }
  const request = toRequest(values, parts.findToolId);
  if (request !== undefined) return withLinks(parts, await engine.execute(scope, request, reach));
  const given = argumentsOf(values);
  const contextTags = values.options.context_tags ?? [];
  const { report, runnable } = await parts.suggest({ intent, given, principal: context.principal, contextTags });
  const suggestions = { status: "suggestions", mode: given === undefined ? "suggestion" : "speculation", ...report };
  if (given === undefined || runnable === undefined) return suggestions;
  const speculated: ExecuteRequest = {
    kind: "capability",
    capability: runnable,
    args: given,
    intent,
    options: toOptions(values),
  };
  const problem = await engine.whyNotAtOnce(scope, speculated, reach.caller);
  if (problem !== undefined)
    return { ...suggestions, reason: `${runnable} fits, but ${problem}. To run it all the same: accept_suggestion.` };
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

function toRequest(values: Input, findToolId: ExecuteParts["findToolId"]): ExecuteRequest | undefined {
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
  return withoutUndefined({ naming, description: description ?? intent, tags });
}

function toOptions({ options }: Input): ExecuteRequest["options"] {
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

/** How a person is reached who has to decide. */
export function withLinks({ approvalUrl }: Pick<ExecuteParts, "approvalUrl">, answer: ExecuteAnswer): Answer {
  if (answer.status !== "approval_required") return { ...answer };
  const { id } = answer.approval;
  return {
    ...answer,
    approval: { ...answer.approval, url: approvalUrl(id), cli: `pml approve ${id}` },
    next: `A person has to decide. When they have, call pml_execute with continue_workflow: {"workflow_id": "${answer.workflowId ?? ""}"}.`,
  };
}

function describeError(error: unknown, started: number): Answer {
  const base = { status: "error", executionTimeMs: performance.now() - started, warnings: [] };
  if (error instanceof SyntaxFailure) {
    const { message, line, column, excerpt } = error.problem;
    return { ...base, error: { code: "syntax_error", message, line, column, hint: `Line ${line}: ${excerpt.trim()}` } };
  }
  if (!(error instanceof PmlError)) throw error;
  const { code, message, hint } = error;
  return { ...base, error: withoutUndefined({ code, message, hint }) };
}

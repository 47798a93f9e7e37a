import { isDeepStrictEqual } from "node:util";
import { bindArguments } from "../analysis/behaviour/bind-arguments.ts";
import type { BehaviourFacts, LiftedParameter } from "../analysis/behaviour/behaviour-facts.ts";
import { writeGeneralised } from "../analysis/behaviour/generalise.ts";
import type { AnalysedProgram } from "../analysis/structure.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";
import type { Logger } from "../base/log.ts";
import type { Db, Tx } from "../db/client.ts";
import type { PermissionSet } from "../permissions/effect.ts";
import { dropDraft, findNominees, joinGroups } from "../registry/behaviour-store.ts";
import type { Capability, PreparedSource } from "../registry/capability.ts";
import { insertCapability } from "../registry/capability-store.ts";
import { setSource } from "../registry/version-store.ts";
import type { AnalysedPrograms } from "./analysed-programs.ts";
import { containsValue } from "./contains-value.ts";
import { type DefaultContext, isDefault } from "./default-values.ts";
import type { JournalEntry } from "./journal.ts";
import { isProvisional, type Runnable } from "./programs.ts";
import { type RecordedRun, type ReplayParts, replayRecorded } from "./replay-recorded.ts";
import type { Run } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";

export interface GeneraliserOptions extends ReplayParts {
  readonly db: Db;
  readonly analysed: AnalysedPrograms;
  readonly log: Logger;
}

/** A run of a submitted program that succeeded. */
export interface SucceededRun {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly entries: readonly JournalEntry[];
  readonly value: JsonValue;
  readonly permissions: PermissionSet;
}

/** The capability that a run belongs to, and the run as that capability would have made it. */
export interface SettledRun {
  readonly capability: Capability;
  readonly structure: Runnable["structure"];
  readonly trace: Pick<Trace, "path" | "decisions">;
  /** A draft that is not needed any more. */
  readonly leftover: string | undefined;
}

/** What is known about the run and its program while its capability is looked for. */
interface Candidate extends SucceededRun {
  readonly program: AnalysedProgram;
  readonly behaviour: BehaviourFacts;
  readonly recorded: RecordedRun;
}

/**
 * Finds the capability that a successful run belongs to: one that does the same when it is called with the run's
 * values, or the run's own program with its literals as parameters. Replay decides both; without proof the program
 * stays as it was written.
 */
export class Generaliser {
  readonly #options: GeneraliserOptions;

  constructor(options: GeneraliserOptions) {
    this.#options = options;
  }

  /** Undefined where the run stays with the program as it was written. Never throws: what ran has succeeded. */
  async settle(succeeded: SucceededRun): Promise<SettledRun | undefined> {
    try {
      const candidate = toCandidate(succeeded);
      return candidate && (await this.#settle(candidate));
    } catch (error) {
      this.#options.log.warn({ error: String(error), runId: succeeded.run.id }, "a run could not be generalised");
      return undefined;
    }
  }

  /** Removes the draft of a run that joined another capability, after the end of the run is stored. */
  async clean({ run }: SucceededRun, { leftover }: SettledRun): Promise<void> {
    if (leftover === undefined) return;
    await dropDraft(this.#options.db, run.scope, leftover).catch((error: unknown) => {
      this.#options.log.debug({ error: String(error) }, "a draft stays until it expires");
    });
  }

  async #settle(candidate: Candidate): Promise<SettledRun | undefined> {
    const { run, runnable } = candidate;
    const joined = run.options.naming === undefined ? await this.#join(candidate) : undefined;
    if (joined !== undefined) return joined;
    const generalised = await this.#generalise(candidate);
    if (generalised !== undefined) return generalised;
    return runnable.capability.state === "draft" ? this.#group(candidate) : this.#keepLiteral(candidate);
  }

  /** Looks for a known capability that does the same with the run's values. */
  async #join(candidate: Candidate): Promise<SettledRun | undefined> {
    const { run, behaviour, value, recorded } = candidate;
    const { db, analysed } = this.#options;
    for (const nominee of await findNominees(db, run, behaviour.key)) {
      if (nominee.source.type !== "code") continue;
      const program = await analysed.analyse(nominee.source.code);
      const args =
        program.behaviour && bindArguments(program.behaviour.calls, { calls: behaviour.calls, args: run.args });
      const replayed = args && (await replayRecorded(this.#options, { program, args }, recorded));
      if (replayed === undefined || !containsValue(replayed.value, value)) continue;
      await db.transaction().execute((tx) => linkText(tx, candidate, nominee));
      return toSettled(candidate, nominee, replayed.trace);
    }
    return undefined;
  }

  /** Keeps the program with its literals as parameters, once that is proven to do the same. */
  async #generalise(candidate: Candidate): Promise<SettledRun | undefined> {
    const { run, runnable, behaviour, value, recorded } = candidate;
    const { analysed } = this.#options;
    const { lifted } = behaviour;
    if (lifted.length === 0) return undefined;
    const context = toContext(candidate);
    const code = writeGeneralised(runnable.text, lifted, (parameter) => isDefault(parameter, context));
    if ((await analysed.hide(code)).values.length > 0) return undefined;
    const program = await analysed.analyse(code);
    const args = { ...run.args, ...Object.fromEntries(lifted.map((each) => [each.name, each.value])) };
    const replayed = await replayRecorded(this.#options, { program, args }, recorded);
    if (replayed === undefined || !isDeepStrictEqual(replayed.value, value)) return undefined;
    const described = await analysed.describe(code);
    const parameters = describeParameters(described.parameters, lifted, context);
    const capability = await this.#insert(candidate, analysed.sign({ ...described, parameters }));
    return toSettled(candidate, capability, replayed.trace);
  }

  /** Keeps a program that only nominated another one as it was written, unless it has a secret. */
  async #keepLiteral(candidate: Candidate): Promise<SettledRun | undefined> {
    const { runnable, program, recorded } = candidate;
    if (runnable.warnings.length > 0) return undefined;
    const capability = await this.#insert(candidate, await this.#options.analysed.describe(runnable.text));
    return toSettled(candidate, capability, buildTrace(recorded.entries, program.structure));
  }

  /** A program without anything to lift, or without proof, is a variant of its behaviour as it was written. */
  async #group({ run, behaviour }: Candidate): Promise<undefined> {
    await this.#options.db.transaction().execute((tx) => joinGroups(tx, run.scope, [behaviour.key]));
  }

  #insert(candidate: Candidate, source: PreparedSource): Promise<Capability> {
    const { run, runnable, behaviour } = candidate;
    const { description } = runnable.capability.state === "draft" ? runnable.capability : {};
    const wanted = { ...source, behaviourKey: behaviour.key, ...(description === undefined ? {} : { description }) };
    return this.#options.db.transaction().execute(async (tx) => {
      const capability = await insertCapability(tx, run, wanted, { named: run.options.naming !== undefined });
      await linkText(tx, candidate, capability);
      await joinGroups(tx, run.scope, [behaviour.key]);
      return capability;
    });
  }
}

/** Makes the same text belong to the capability from now on, without another look. */
async function linkText(tx: Tx, { run, program }: Candidate, { id: recordId, version }: Capability): Promise<void> {
  await setSource(tx, run.scope, { sourceHash: program.hash, recordId, version });
}

function toSettled({ runnable }: Candidate, capability: Capability, trace: Trace): SettledRun {
  const { path, decisions } = trace;
  const isLeft = runnable.capability.state === "draft" && runnable.capability.id !== capability.id;
  const leftover = isLeft ? runnable.capability.id : undefined;
  return { capability, structure: capability.structure, trace: { path, decisions }, leftover };
}

function toCandidate(succeeded: SucceededRun): Candidate | undefined {
  const { runnable, run, entries, permissions } = succeeded;
  const { body, capability } = runnable;
  if (body.kind !== "code" || run.parent !== undefined || body.program.behaviour === undefined) return undefined;
  if (capability.state !== "draft" && !isProvisional(runnable)) return undefined;
  const reads = new Set(permissions.filter(({ effect }) => effect === "read").map(({ tool }) => tool));
  const recorded = { run, entries, isRead: (tool: string): boolean => reads.has(tool) };
  return { ...succeeded, program: body.program, behaviour: body.program.behaviour, recorded };
}

function toContext({ run, recorded }: Candidate): DefaultContext {
  return {
    intent: run.intent,
    isNamed: run.options.naming !== undefined,
    isRead: recorded.isRead,
    isSecret: (value) => run.secrets.hide(value) !== value,
  };
}

/** Adds the words of the tools' schemas, an example, and what is required. */
function describeParameters(
  inferred: JsonSchema,
  lifted: readonly LiftedParameter[],
  context: DefaultContext,
): JsonSchema {
  const properties = { ...(inferred["properties"] as Record<string, JsonSchema> | undefined) };
  const required = new Set((inferred["required"] ?? []) as readonly string[]);
  for (const parameter of lifted) {
    const { name, schema, value } = parameter;
    const example: JsonObject = context.isSecret(value) ? {} : { examples: [value] };
    properties[name] = { ...schema, ...properties[name], ...example };
    if (!isDefault(parameter, context)) required.add(name);
  }
  return { ...inferred, properties, ...(required.size === 0 ? {} : { required: [...required] }) };
}

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
import { findCapabilityById, insertCapability } from "../registry/capability-store.ts";
import { addVersion } from "../registry/change-versions.ts";
import { mayChange } from "../registry/find-record.ts";
import { isUnnamed } from "../registry/fqdn.ts";
import { findRecord } from "../registry/resolve-store.ts";
import { bumpScope } from "../registry/scope-version-store.ts";
import { setSource } from "../registry/version-store.ts";
import type { AnalysedPrograms } from "./analysed-programs.ts";
import { containsValue } from "./contains-value.ts";
import { type DefaultContext, isDefault } from "./default-values.ts";
import type { JournalEntry } from "./journal.ts";
import { isProvisional, type Runnable } from "./programs.ts";
import { type RecordedRun, type ReplayParts, replayRecorded } from "./replay-recorded.ts";
import { listRuns, readJournal, type Run, type StoredRun } from "./run-store.ts";
import { syntheticExample } from "./synthetic-example.ts";
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
  /** The run's values, as arguments of the capability. */
  readonly args: JsonObject;
  readonly trace: Pick<Trace, "path" | "decisions">;
  /** The result of the capability, which may contain more than that of the run. */
  readonly value: JsonValue;
  /** A draft that is not needed any more. */
  readonly leftover: string | undefined;
}

/** A program with parameters that does what the run did. */
interface ProvenProgram {
  readonly program: AnalysedProgram;
  readonly source: PreparedSource;
  readonly args: JsonObject;
  readonly trace: Trace;
  readonly value: JsonValue;
}

/** A capability with more runs stays as it is: proving a new version on all of them would take too long. */
const MOST_PROVEN = 30;

/** The run with the facts about its program, while its capability is looked for. */
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
    const { run, runnable, behaviour } = candidate;
    const isNamed = run.options.naming !== undefined;
    const nominees = isNamed ? [] : await findNominees(this.#options.db, run, behaviour.key);
    const joined = await this.#join(candidate, nominees);
    if (joined !== undefined) return joined;
    const proven = await this.#prove(candidate);
    if (proven !== undefined)
      return (await this.#replace(candidate, nominees, proven)) ?? (await this.#keep(candidate, proven));
    return runnable.capability.state === "draft" ? this.#group(candidate) : this.#keepLiteral(candidate);
  }

  /** Looks for a known capability that does the same with the run's values. */
  async #join(candidate: Candidate, nominees: readonly Capability[]): Promise<SettledRun | undefined> {
    const { run, behaviour, value, recorded } = candidate;
    const { db, analysed } = this.#options;
    for (const nominee of nominees) {
      if (nominee.source.type !== "code") continue;
      const program = await analysed.analyse(nominee.source.code);
      const args =
        program.behaviour && bindArguments(program.behaviour.calls, { calls: behaviour.calls, args: run.args });
      if (args === undefined) continue;
      const replayed = await replayRecorded(this.#options, { program, args }, recorded);
      if (replayed === undefined || !containsValue(replayed.value, value)) continue;
      await db.transaction().execute((tx) => linkText(tx, candidate, nominee));
      return toSettled(candidate, nominee, { args, ...replayed });
    }
    return undefined;
  }

  /** Writes the program with its literals as parameters, and proves that it does the same. */
  async #prove(candidate: Candidate): Promise<ProvenProgram | undefined> {
    const { run, runnable, behaviour, value, recorded } = candidate;
    const { analysed } = this.#options;
    const { lifted } = behaviour;
    if (lifted.length === 0) return undefined;
    const context = toContext(candidate);
    const code = writeGeneralised(runnable.text, lifted, (parameter) => isDefault(parameter, context));
    const { parts, values } = await analysed.hide(code);
    if (parts.length + values.length > 0) return undefined;
    const program = await analysed.analyse(code);
    const args = { ...run.args, ...Object.fromEntries(lifted.map((each) => [each.name, each.value])) };
    const replayed = await replayRecorded(this.#options, { program, args }, recorded);
    if (replayed === undefined || !isDeepStrictEqual(replayed.value, value)) return undefined;
    const described = await analysed.describe(code);
    const parameters = describeParameters(described.parameters, lifted, context);
    const source = analysed.sign({ ...described, parameters, behaviourKey: behaviour.key });
    return { program, source, args, ...replayed };
  }

  /**
   * Makes the program the next version of a capability without a name that gives less, if it does what all of its runs
   * did: it may return more of the same results, or take several where the other takes one.
   */
  async #replace(
    candidate: Candidate,
    nominees: readonly Capability[],
    proven: ProvenProgram,
  ): Promise<SettledRun | undefined> {
    const { run } = candidate;
    const { db } = this.#options;
    for (const nominee of nominees) {
      if (!isUnnamed(nominee.displayName) || !(await this.#covers(proven, nominee))) continue;
      const specifier = { kind: "latest" } as const;
      const record = await findRecord(db, run, { kind: "id", id: nominee.id, specifier });
      if (record === undefined || !mayChange(run, record)) continue;
      const update = {
        record,
        prepared: proven.source,
        calls: [],
        changeSummary: "Covers more than the version before",
      };
      const capability = await db.transaction().execute(async (tx) => {
        await addVersion(tx, run, update);
        const current = await findCapabilityById(tx, run.scope, { id: nominee.id });
        if (current !== undefined) await linkText(tx, candidate, current);
        await bumpScope(tx, run.scope);
        return current;
      });
      return capability && toSettled(candidate, capability, proven);
    }
    return undefined;
  }

  /** True if the program does what every run of the capability did, and gives at least their results. */
  async #covers({ program }: ProvenProgram, { id, scope }: Capability): Promise<boolean> {
    const runs = await listRuns(this.#options.db, scope, {
      recordId: id,
      states: ["succeeded"],
      limit: MOST_PROVEN + 1,
    });
    if (runs.length === 0 || runs.length > MOST_PROVEN) return false;
    for (const run of runs) if (!(await this.#doesTheSame(program, run))) return false;
    return true;
  }

  async #doesTheSame(program: AnalysedProgram, run: StoredRun): Promise<boolean> {
    const { db, analysed } = this.#options;
    const own = await findCapabilityById(db, run.scope, { id: run.recordId, version: run.version });
    const written = own?.source.type === "code" ? await analysed.analyse(own.source.code) : undefined;
    if (written?.behaviour === undefined || program.behaviour === undefined) return false;
    const args = bindArguments(program.behaviour.calls, { calls: written.behaviour.calls, args: run.args });
    if (args === undefined) return false;
    const entries = await readJournal(db, run.scope, run.id);
    // Effects of earlier runs are not known any more, so all their calls keep their order.
    const recorded = { run, entries, isRead: () => false };
    const replayed = await replayRecorded(this.#options, { program, args }, recorded);
    return replayed !== undefined && containsValue(replayed.value, run.result ?? null);
  }

  async #keep(candidate: Candidate, proven: ProvenProgram): Promise<SettledRun> {
    return toSettled(candidate, await this.#insert(candidate, proven.source), proven);
  }

  /** Keeps a program that only nominated another one as it was written, unless it has a secret. */
  async #keepLiteral(candidate: Candidate): Promise<SettledRun | undefined> {
    const { run, runnable, program, recorded, value } = candidate;
    if (runnable.warnings.length > 0) return undefined;
    const capability = await this.#insert(candidate, await this.#options.analysed.describe(runnable.text));
    const trace = buildTrace(recorded.entries, program.structure);
    return toSettled(candidate, capability, { args: run.args, trace, value });
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

function toSettled(
  { runnable }: Candidate,
  capability: Capability,
  { args, trace: { path, decisions }, value }: Pick<ProvenProgram, "args" | "trace" | "value">,
): SettledRun {
  const isLeft = runnable.capability.state === "draft" && runnable.capability.id !== capability.id;
  const leftover = isLeft ? runnable.capability.id : undefined;
  return { capability, structure: capability.structure, args, trace: { path, decisions }, value, leftover };
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

function toContext({ run, recorded, behaviour }: Candidate): DefaultContext {
  return {
    intent: run.intent,
    isNamed: run.options.naming !== undefined,
    isRead: recorded.isRead,
    onlyReads: behaviour.calls.every(({ target }) => recorded.isRead(target)),
    isSecret: (value) => run.secrets.hide(value) !== value,
  };
}

/** Adds the words of the tools' schemas, an example that is nobody's value, and what is required. */
function describeParameters(
  inferred: JsonSchema,
  lifted: readonly LiftedParameter[],
  context: DefaultContext,
): JsonSchema {
  const properties = { ...(inferred["properties"] as Record<string, JsonSchema> | undefined) };
  const required = new Set((inferred["required"] ?? []) as readonly string[]);
  for (const parameter of lifted) {
    const { name, schema, value } = parameter;
    const example = context.isSecret(value) ? {} : { examples: [syntheticExample(value)] };
    properties[name] = { ...example, ...schema, ...properties[name] };
    if (!isDefault(parameter, context)) required.add(name);
  }
  return { ...inferred, properties, ...(required.size === 0 ? {} : { required: [...required] }) };
}

import { isUnnamed } from "../../registry/fqdn.ts";
import type { ChangedVia, Registry } from "../../registry/registry.ts";
import { type Asker, OWNER, type Scope } from "../../registry/scope.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import type { EventBus } from "../../base/events.ts";
import type { LanguageModel } from "../model/language-model.ts";
import { inferNamespace } from "../namespace-rules.ts";
import { type ProposedName, proposeName } from "../propose-name.ts";
import { type IsFree, suggestNames } from "../suggest-names.ts";
import { askForNames } from "./model-names.ts";
import {
  countWithoutSuggestion,
  listNameables,
  MOST_AT_ONCE,
  type NameableCapability,
  readTakenNames,
} from "./nameable-store.ts";
import { UseCounts } from "./use-counts.ts";
import {
  countFates,
  decideSuggestion,
  listPending,
  readRejected,
  settleSuggestions,
  type SourcedSuggestion,
  type SuggestionCounts,
  writeSuggestions,
} from "./suggestion-store.ts";

export interface CurationFilter {
  /** Only what nobody has named; true unless said otherwise. */
  readonly unnamedOnly?: boolean;
  /** Only what is in this namespace, or would be. */
  readonly namespace?: string;
  readonly minUsage?: number;
  /** Only what no name was ever proposed for. */
  readonly newOnly?: boolean;
}

/** Who curates, what, and with whose help. */
export interface CurationRequest {
  readonly asker: Asker;
  readonly filter: CurationFilter;
  readonly signal: AbortSignal;
  /** A model that the caller offers, for when none is configured. */
  readonly model?: LanguageModel;
  /** Nothing is kept or changed. */
  readonly dryRun?: boolean;
  /** Instead of the configured one. */
  readonly minConfidence?: number;
}

export interface Suggestions {
  readonly suggestions: readonly SourcedSuggestion[];
  readonly warnings: readonly string[];
}

export interface Rename {
  /** Id or current name. */
  readonly id: string;
  readonly name: string;
}

interface AppliedRename {
  readonly id: string;
  readonly oldName: string;
  readonly newName: string;
}

interface FailedDecision {
  readonly id: string;
  readonly code: string;
  readonly error: string;
}

type FailedRename = FailedDecision & Rename;

export interface Rejected {
  /** Ids of those that had an open proposal. */
  readonly rejected: readonly string[];
  readonly failed: readonly FailedDecision[];
}

export interface Applied {
  readonly applied: readonly AppliedRename[];
  readonly failed: readonly FailedRename[];
}

export interface AutoSummary extends Applied {
  /** Not sure enough, or already named by somebody. */
  readonly waiting: readonly SourcedSuggestion[];
  readonly warnings: readonly string[];
}

export interface CurationStats extends SuggestionCounts {
  /** Unnamed capabilities without a proposal. */
  readonly unnamed: number;
  /** Of all decided: taken as they were. undefined before the first decision. */
  readonly acceptanceRate: number | undefined;
}

export interface CuratorOptions {
  readonly client: DatabaseClient;
  readonly registry: Pick<Registry, "rename" | "lookup">;
  readonly events: EventBus;
  readonly model: LanguageModel | undefined;
  /** Whether a model that the caller offers may be asked. */
  readonly sampling: boolean;
  /** Above this a name is given without asking. */
  readonly minConfidence: number;
}

/** Gives names to what has none: proposes, applies, and remembers what people thought of it. */
export class Curator {
  readonly #options: CuratorOptions;
  readonly #uses: UseCounts;

  constructor(options: CuratorOptions) {
    this.#options = options;
    this.#uses = new UseCounts(options.client.db);
  }

  /** A word about what has just been run, where it has no name and is used often. */
  async adviseName(
    scope: Scope,
    { id, name }: { readonly id: string; readonly name: string },
  ): Promise<string | undefined> {
    if (!isUnnamed(name)) return undefined;
    const uses = await this.#uses.count(scope, id);
    if (uses < MANY_USES) return undefined;
    return `${name} was used ${uses} times and has no name; pml_curate_capabilities finds one`;
  }

  async suggest(request: CurationRequest): Promise<Suggestions> {
    const { db } = this.#options.client;
    const { asker, dryRun } = request;
    await settleSuggestions(db, asker.scope);
    const nameables = await this.#select(request);
    const found = await this.#propose(request, nameables);
    if (dryRun !== true) await writeSuggestions(db, asker.scope, found.suggestions);
    return found;
  }

  /** Applies what is sure enough. What somebody named is never renamed without being asked. */
  async auto(request: CurationRequest): Promise<AutoSummary> {
    const { suggestions, warnings } = await this.suggest(request);
    const { minConfidence = this.#options.minConfidence } = request;
    const sure = suggestions.filter(
      ({ confidence, currentName }) => confidence > minConfidence && isUnnamed(currentName),
    );
    const waiting = suggestions.filter((suggestion) => !sure.includes(suggestion));
    const renames = sure.map(({ id, suggestedName }) => ({ id, name: suggestedName }));
    const done = request.dryRun === true ? foresee(sure) : await this.apply(request.asker, renames, "auto");
    return { ...done, waiting, warnings };
  }

  /** Each by itself: one that cannot be applied does not keep the others from it. */
  async apply(asker: Asker, renames: readonly Rename[], via: ChangedVia): Promise<Applied> {
    const applied: AppliedRename[] = [];
    const failed: FailedRename[] = [];
    for (const { id, name } of renames) {
      try {
        const { record, oldName } = await this.#options.registry.rename(asker, { from: id, to: name, via });
        const decision = { recordId: record.id, name: record.displayName, via };
        await decideSuggestion(this.#options.client.db, asker.scope, decision);
        applied.push({ id: record.id, oldName, newName: record.displayName });
      } catch (error) {
        failed.push({ ...toFailed(error, id), name });
      }
    }
    return { applied, failed };
  }

  /** Turns proposals down: the same names are not proposed for the same capabilities again. */
  async reject(asker: Asker, references: readonly string[], via: ChangedVia): Promise<Rejected> {
    const rejected: string[] = [];
    const failed: FailedDecision[] = [];
    for (const reference of references) {
      try {
        const { id } = await this.#options.registry.lookup(asker, reference);
        const decision = { recordId: id, name: undefined, via };
        if ((await decideSuggestion(this.#options.client.db, asker.scope, decision)) !== undefined) rejected.push(id);
      } catch (error) {
        failed.push(toFailed(error, reference));
      }
    }
    return { rejected, failed };
  }

  /** What waits for somebody to decide. */
  async pending(scope: Scope): Promise<SourcedSuggestion[]> {
    await settleSuggestions(this.#options.client.db, scope);
    return listPending(this.#options.client.db, scope);
  }

  async stats(scope: Scope): Promise<CurationStats> {
    const { db } = this.#options.client;
    await settleSuggestions(db, scope);
    const counts = await countFates(db, scope);
    const decided = counts.accepted + counts.edited + counts.rejected;
    const acceptanceRate = decided === 0 ? undefined : counts.accepted / decided;
    return { ...counts, unnamed: await countWithoutSuggestion(db, scope), acceptanceRate };
  }

  /** What PML does by itself, once there is enough without a name: it looks at everything that is new. */
  async runByItself(scope: Scope, { apply }: { readonly apply: boolean }): Promise<void> {
    const request = {
      asker: { scope, principal: OWNER },
      filter: { newOnly: true },
      signal: new AbortController().signal,
    };
    let [applied, waiting] = [0, 0];
    for (let found = MOST_AT_ONCE; found >= MOST_AT_ONCE;) {
      const done = apply
        ? await this.auto(request)
        : { applied: [], waiting: (await this.suggest(request)).suggestions };
      applied += done.applied.length;
      waiting += done.waiting.length;
      found = done.applied.length + done.waiting.length;
    }
    this.#options.events.publish({ kind: "names_suggested", ...scope, applied, waiting });
  }

  async #select({ asker, filter }: CurationRequest): Promise<NameableCapability[]> {
    const { unnamedOnly = true, minUsage = 0, newOnly = false, namespace } = filter;
    const wanted = { unnamedOnly, minUsage, newOnly };
    const nameables = await listNameables(this.#options.client.db, asker, wanted);
    if (namespace === undefined) return nameables;
    return nameables.filter(
      (each) => (!each.unnamed && each.namespace === namespace) || inferNamespace(each.tools).namespace === namespace,
    );
  }

  async #propose(request: CurationRequest, nameables: readonly NameableCapability[]): Promise<Suggestions> {
    const { scope } = request.asker;
    const model = this.#options.model ?? (this.#options.sampling ? request.model : undefined);
    const asked = model === undefined ? nothingAsked : await askForNames(model, nameables, request.signal);
    const isFree = await this.#findFreeNames(scope);
    const suggestions = suggestNames(nameables, isFree, (each) => asked.names.get(each.id) ?? proposeName(each));
    return {
      suggestions: suggestions.map((each) => ({
        ...each,
        source: model !== undefined && asked.names.has(each.id) ? model.source : "heuristic",
      })),
      warnings: asked.warnings,
    };
  }

  async #findFreeNames(scope: Scope): Promise<IsFree> {
    const { db } = this.#options.client;
    const taken = await readTakenNames(db, scope);
    const rejected = new Set((await readRejected(db, scope)).map(([id, name]) => `${id} ${name}`));
    return (id, name) =>
      (taken.get(name) ?? (taken.has(name) ? undefined : id)) === id && !rejected.has(`${id} ${name}`);
  }
}

const MANY_USES = 5;

const nothingAsked = { names: new Map<string, ProposedName>(), warnings: [] };

/** What a user can act on is an outcome; anything else is not. */
function toFailed(error: unknown, id: string): FailedDecision {
  if (!(error instanceof PmlError)) throw error;
  return { id, code: error.code, error: error.message };
}

function foresee(sure: readonly SourcedSuggestion[]): Applied {
  return {
    applied: sure.map(({ id, currentName, suggestedName }) => ({ id, oldName: currentName, newName: suggestedName })),
    failed: [],
  };
}

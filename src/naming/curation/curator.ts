import { isUnnamed } from "../../registry/fqdn.ts";
import type { ChangedVia, Registry } from "../../registry/registry.ts";
import { type Asker, OWNER, type Scope } from "../../registry/scope.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { BoundedMap } from "../../base/bounded-map.ts";
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
  type NameableCapability,
  type NameablePage,
  type PageRequest,
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
  /** Only capabilities without a name; defaults to true. */
  readonly unnamedOnly?: boolean;
  /** Only capabilities that are in this namespace, or whose tools suggest it. */
  readonly namespace?: string;
  readonly minUsage?: number;
  /** Only capabilities that never had a suggestion. */
  readonly newOnly?: boolean;
}

export interface CurationRequest extends PageRequest {
  readonly asker: Asker;
  readonly filter: CurationFilter;
  readonly signal: AbortSignal;
  /** A model offered by the caller, used if none is configured. */
  readonly model?: LanguageModel;
  /** Stores and changes nothing. */
  readonly dryRun?: boolean;
  /** Overrides the configured threshold. */
  readonly minConfidence?: number;
}

export interface NameSuggestions {
  readonly suggestions: readonly SourcedSuggestion[];
  readonly warnings: readonly string[];
  /** Undefined once every capability was looked at. */
  readonly nextCursor: string | undefined;
}

export interface NameChoice {
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

type FailedRename = FailedDecision & NameChoice;

export interface RejectOutcome {
  /** Ids of the capabilities that had a pending suggestion. */
  readonly rejected: readonly string[];
  readonly failed: readonly FailedDecision[];
}

export interface ApplyOutcome {
  readonly applied: readonly AppliedRename[];
  readonly failed: readonly FailedRename[];
}

export interface AutoSummary extends ApplyOutcome {
  /** Suggestions below the threshold, or for capabilities that already have a name. */
  readonly waiting: readonly SourcedSuggestion[];
  readonly warnings: readonly string[];
  readonly nextCursor: string | undefined;
}

export interface CurationStats extends SuggestionCounts {
  /** Unnamed capabilities without a suggestion. */
  readonly unnamed: number;
  /** Share of decided suggestions that were accepted unchanged; undefined before the first decision. */
  readonly acceptanceRate: number | undefined;
}

export interface CuratorOptions {
  readonly client: DatabaseClient;
  readonly registry: Pick<Registry, "rename" | "checkChange">;
  readonly events: EventBus;
  readonly model: LanguageModel | undefined;
  /** Allows the use of a model offered by the caller. */
  readonly sampling: boolean;
  /** Suggestions above this threshold are applied without asking. */
  readonly minConfidence: number;
}

/** Suggests names for capabilities, applies them, and records decisions about them. */
export class Curator {
  readonly #options: CuratorOptions;
  readonly #uses: UseCounts;
  /** How often the uses had doubled when a capability's name was last advised. */
  readonly #advised = new BoundedMap<string, number>(MOST_ADVISED);

  constructor(options: CuratorOptions) {
    this.#options = options;
    this.#uses = new UseCounts(options.client.db);
  }

  /** Returns advice to name a capability that is used often and has no name. */
  async adviseName(
    scope: Scope,
    { id, name }: { readonly id: string; readonly name: string },
  ): Promise<string | undefined> {
    if (!isUnnamed(name)) return undefined;
    const uses = await this.#uses.count(scope, id);
    // told at 5 uses, then each time they have doubled: on every run it would only be noise
    const level = Math.floor(Math.log2(uses / MANY_USES));
    if (level < 0 || level <= (this.#advised.get(id) ?? -1)) return undefined;
    this.#advised.set(id, level);
    return `${name} was used ${uses} times and has no name; pml_curate_capabilities finds one`;
  }

  /** Suggests names for one page of capabilities. */
  async suggest(request: CurationRequest): Promise<NameSuggestions> {
    const { db } = this.#options.client;
    const { asker, dryRun } = request;
    await settleSuggestions(db, asker.scope);
    const { nameables, nextCursor } = await this.#select(request);
    const found = await this.#propose(request, nameables);
    if (dryRun !== true) await writeSuggestions(db, asker.scope, found.suggestions);
    return { ...found, nextCursor };
  }

  /** Applies the suggestions of one page that are above the threshold. Never renames a capability that a person named. */
  async auto(request: CurationRequest): Promise<AutoSummary> {
    const { suggestions, warnings, nextCursor } = await this.suggest(request);
    const { minConfidence = this.#options.minConfidence } = request;
    const sure = suggestions.filter(
      ({ confidence, currentName }) => confidence > minConfidence && isUnnamed(currentName),
    );
    const waiting = suggestions.filter((suggestion) => !sure.includes(suggestion));
    const renames = sure.map(({ id, suggestedName }) => ({ id, name: suggestedName }));
    const done = request.dryRun === true ? previewRenames(sure) : await this.apply(request.asker, renames, "auto");
    return { ...done, waiting, warnings, nextCursor };
  }

  /** Applies each rename on its own, so one failure does not stop the others. */
  async apply(asker: Asker, renames: readonly NameChoice[], via: ChangedVia): Promise<ApplyOutcome> {
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

  /** Rejects pending suggestions, so that the same names are not suggested again. */
  async reject(asker: Asker, references: readonly string[], via: ChangedVia): Promise<RejectOutcome> {
    const rejected: string[] = [];
    const failed: FailedDecision[] = [];
    for (const reference of references) {
      try {
        const { id } = await this.#options.registry.checkChange(asker, reference);
        const decision = { recordId: id, name: undefined, via };
        if ((await decideSuggestion(this.#options.client.db, asker.scope, decision)) !== undefined) rejected.push(id);
      } catch (error) {
        failed.push(toFailed(error, reference));
      }
    }
    return { rejected, failed };
  }

  /** Lists suggestions that await a decision. */
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

  /** Curates all new capabilities in the background, page by page. */
  async curateInBackground(scope: Scope, { apply }: { readonly apply: boolean }): Promise<void> {
    const request = {
      asker: { scope, principal: OWNER },
      filter: { newOnly: true },
      signal: new AbortController().signal,
    };
    let [applied, waiting] = [0, 0];
    let cursor: string | undefined;
    do {
      const page = { ...request, cursor };
      const done = apply ? await this.auto(page) : await this.#suggestOnly(page);
      applied += done.applied.length;
      waiting += done.waiting.length;
      cursor = done.nextCursor;
    } while (cursor !== undefined);
    this.#options.events.publish({ kind: "names_suggested", ...scope, applied, waiting });
  }

  async #suggestOnly(request: CurationRequest): Promise<Pick<AutoSummary, "applied" | "waiting" | "nextCursor">> {
    const { suggestions, nextCursor } = await this.suggest(request);
    return { applied: [], waiting: suggestions, nextCursor };
  }

  async #select({ asker, filter, limit, cursor }: CurationRequest): Promise<NameablePage> {
    const { unnamedOnly = true, minUsage = 0, newOnly = false, namespace } = filter;
    const wanted = { unnamedOnly, minUsage, newOnly };
    const page = await listNameables(this.#options.client.db, asker, { ...wanted, limit, cursor });
    if (namespace === undefined) return page;
    const belongs = (each: NameableCapability): boolean =>
      (!each.unnamed && each.namespace === namespace) || inferNamespace(each.tools).namespace === namespace;
    return { ...page, nameables: page.nameables.filter(belongs) };
  }

  async #propose(
    request: CurationRequest,
    nameables: readonly NameableCapability[],
  ): Promise<Omit<NameSuggestions, "nextCursor">> {
    const { scope } = request.asker;
    const model = this.#options.model ?? (this.#options.sampling ? request.model : undefined);
    const asked = model === undefined ? NO_MODEL_NAMES : await askForNames(model, nameables, request.signal);
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
const MOST_ADVISED = 1_000;

const NO_MODEL_NAMES = { names: new Map<string, ProposedName>(), warnings: [] };

/** A `PmlError` is an outcome of one decision; any other error is thrown. */
function toFailed(error: unknown, id: string): FailedDecision {
  if (!(error instanceof PmlError)) throw error;
  return { id, code: error.code, error: error.message };
}

function previewRenames(sure: readonly SourcedSuggestion[]): ApplyOutcome {
  return {
    applied: sure.map(({ id, currentName, suggestedName }) => ({ id, oldName: currentName, newName: suggestedName })),
    failed: [],
  };
}

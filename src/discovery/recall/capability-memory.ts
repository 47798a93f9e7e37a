import { recordIdsIn } from "../../catalogue/tool-id.ts";
import type { Db } from "../../db/client.ts";
import type { Scope } from "../../registry/scope.ts";
import { MAX_QUERY_PIECES } from "../document-text.ts";
import type { StaticEmbedder } from "../embedding/static-embedder.ts";
import type { Wordpiece } from "../embedding/wordpiece.ts";
import { labelCalls } from "./call-labels.ts";
import { delexicalise } from "./delexicalise.ts";
import { IntentTexts } from "./intent-texts.ts";
import { type LearnedIntent, readLearnedIntents, readProgramCalls } from "./recall-store.ts";
import { type IntentFeatures, placesOf, ToolModel } from "./tool-model.ts";

export interface MemoryOptions {
  readonly db: Db;
  readonly scope: Scope;
  readonly wordpiece: Wordpiece;
  readonly lite: StaticEmbedder;
  /** The text by which a tool is found. */
  readonly toolText: (id: string) => string | undefined;
}

/** A capability as the index of the scope lists it. */
export interface ListedCapability {
  /** `cap:` and the record's id. */
  readonly id: string;
  readonly version: number;
  readonly description: string;
  /** Owner of a private one. */
  readonly owner: string | undefined;
  /** Capabilities of one group do the same. */
  readonly group: string;
}

/** A view: everything that one principal may see. */
export interface View {
  readonly key: string;
  readonly includes: (id: string) => boolean;
}

/** The evidence for one capability. */
export interface Recollection {
  readonly id: string;
  readonly group: string;
  readonly score: number;
  /** Cosine with the nearest past intent. */
  readonly nearness: number;
  /** Log likelihood of its calls and of no others, by the tool model; 0 before anything was learned. */
  readonly likelihood: number;
  /** Past uses with an intent. */
  readonly support: number;
}

interface Remembered {
  listed: ListedCapability;
  labels: ReadonlySet<string>;
  tools: readonly string[];
  /** Slots of its texts, in the order in which they were learned. */
  readonly slots: Set<number>;
  /** Sum of the vectors of its texts; undefined while there is one at most. */
  sum: Float32Array | undefined;
  /** Length of the sum. */
  length: number;
  /** Uses by intent. */
  readonly uses: Map<string, number>;
  support: number;
  /** Slots of texts that models learn from; descriptions are not among them. */
  readonly learned: Set<number>;
}

interface Example {
  readonly id: string;
  /** Places of its words in the model. */
  readonly words: IntentFeatures["words"];
  readonly slot: number;
}

interface TrainedView {
  readonly model: ToolModel;
  readonly examples: Example[];
  /** Examples of the scope that were considered. */
  considered: number;
  /** True while the rest is learned in the background. */
  isBehind: boolean;
}

/** Weights beside the nearest intent, which counts 1. */
const TOOL_TEXTS = 0.3;
const CENTROID = 0.5;
const TOOL_MODEL = 0.05;

/** Texts kept per capability, and once there are many texts in all. */
const MAX_TEXTS = 200;
const MANY_TEXTS = 50_000;
const MAX_TEXTS_OF_MANY = 8;
/** Models of views; each takes up to 6 MB. */
const MAX_VIEWS = 4;
/** Texts without a capability before everything is read again. */
const MUCH_GARBAGE = 5_000;
const READ_AT_ONCE = 500;
/** With more new capabilities all intents are read: to pick out many subjects takes longer. */
const MANY_ADDED = 1_000;
/** Examples learned by a request that waits; the rest follows in the background. */
const LEARNED_AT_ONCE = 40;
/** From this backlog on fewer examples are replayed, so that a large memory is read within seconds. */
const LARGE_BACKLOG = 500;
const STEPS_OF_BACKLOG = 10_000;
const FEWEST_REPLAYED = 2;

/** Remembers the intents of a scope's capabilities and scores the capabilities for a new intent. */
export class CapabilityMemory {
  readonly #options: MemoryOptions;
  #texts: IntentTexts;
  readonly #toolTexts: IntentTexts;
  readonly #toolSlots = new Map<string, number>();
  readonly #remembered = new Map<string, Remembered>();
  #examples: Example[] = [];
  readonly #views = new Map<string, TrainedView>();
  /** Texts of capabilities that are gone. */
  #garbage = 0;
  #changes = 0;
  #last: { readonly asked: string; readonly found: readonly Recollection[] } | undefined;
  #readAt: Date | undefined;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#texts = new IntentTexts(options.lite);
    this.#toolTexts = new IntentTexts(options.lite);
  }

  /** Takes the current capabilities, where they have changed, and reads new intents. */
  async refresh(listed: readonly ListedCapability[] | undefined): Promise<void> {
    const added = listed === undefined ? [] : await this.#list(listed);
    const { db, scope } = this.#options;
    const since = added.length > MANY_ADDED ? undefined : this.#readAt;
    const { readAt, intents } = await readLearnedIntents(db, scope, { since, subjects: added });
    for (const intent of intents) this.#learn(intent);
    if (listed !== undefined) this.#changes += 1;
    this.#readAt = readAt;
  }

  /** Scores every capability of a view. Suggestions search twice for an intent, so the last answer is kept. */
  recall(intent: string, view: View): readonly Recollection[] {
    if (this.#remembered.size === 0) return [];
    const trained = this.#train(view);
    const asked = JSON.stringify([view.key, intent, this.#changes, trained.considered]);
    if (this.#last?.asked !== asked) this.#last = { asked, found: this.#score(intent, view, trained) };
    return this.#last.found;
  }

  #score(intent: string, view: View, trained: TrainedView): Recollection[] {
    const { lite, wordpiece } = this.#options;
    const text = this.#prepare(intent);
    const vector = lite.embed(text);
    const cosines = this.#texts.compare(vector);
    const byTool = this.#toolTexts.compare(lite.embed(wordpiece.cut(intent, MAX_QUERY_PIECES)));
    const ofTool = (id: string): number => byTool[this.#toolSlots.get(id) ?? -1] ?? 0;
    const judge = this.#judge(trained, { words: placesOf(text), vector });
    const found: Recollection[] = [];
    for (const remembered of this.#remembered.values()) {
      const { listed, slots, sum, support, labels, tools } = remembered;
      if (!view.includes(listed.id) || slots.size === 0) continue;
      let nearness = -1;
      for (const slot of slots) nearness = Math.max(nearness, cosines[slot] as number);
      const central = sum === undefined ? nearness : product(vector, sum) / remembered.length;
      const { odds, likelihood } = judge(labels);
      found.push({
        id: listed.id,
        group: listed.group,
        score: nearness + TOOL_TEXTS * mean(tools.map(ofTool)) + CENTROID * central + TOOL_MODEL * odds,
        nearness,
        likelihood,
        support,
      });
    }
    return found;
  }

  /** Returns the ids of capabilities that were not known. */
  async #list(listed: readonly ListedCapability[]): Promise<string[]> {
    const current = new Set(listed.map(({ id }) => id));
    for (const id of this.#remembered.keys()) if (!current.has(id)) this.#remove(id);
    const changed = listed.filter((each) => this.#remembered.get(each.id)?.listed.version !== each.version);
    const added = changed.filter(({ id }) => !this.#remembered.has(id)).map(({ id }) => id);
    for (const each of listed) {
      const known = this.#remembered.get(each.id);
      if (known === undefined) continue;
      // a model must not know what its view may not see
      if (known.listed.owner !== each.owner) this.#views.clear();
      if (known.listed.description !== each.description) this.#addText(known, each.description);
      known.listed = each;
    }
    for (let at = 0; at < changed.length; at += READ_AT_ONCE)
      await this.#describe(changed.slice(at, at + READ_AT_ONCE));
    this.#describeTools();
    return added;
  }

  /** Models cannot unlearn, so they are trained again without it. */
  #remove(id: string): void {
    this.#garbage += this.#remembered.get(id)?.slots.size ?? 0;
    this.#remembered.delete(id);
    this.#examples = this.#examples.filter((example) => example.id !== id);
    this.#views.clear();
    if (this.#garbage <= MUCH_GARBAGE) return;
    this.#texts = new IntentTexts(this.#options.lite);
    this.#remembered.clear();
    this.#examples = [];
    this.#garbage = 0;
    this.#readAt = undefined;
  }

  async #describe(changed: readonly ListedCapability[]): Promise<void> {
    const { db, scope } = this.#options;
    const ids = recordIdsIn(changed.map(({ id }) => id));
    const calls = await readProgramCalls(db, scope.org, ids);
    for (const [at, listed] of changed.entries()) {
      const made = calls.get(ids[at] ?? "") ?? [];
      const program = { labels: labelCalls(made), tools: [...new Set(made.map(({ tool }) => tool))] };
      const known = this.#remembered.get(listed.id);
      if (known !== undefined && !isSame(known.labels, program.labels)) this.#views.clear();
      const blank = {
        slots: new Set<number>(),
        sum: undefined,
        length: 1,
        uses: new Map(),
        support: 0,
        learned: new Set<number>(),
      };
      const remembered: Remembered = { ...blank, ...known, ...program, listed };
      this.#remembered.set(listed.id, remembered);
      if (listed.description !== "") this.#addText(remembered, listed.description);
    }
  }

  #describeTools(): void {
    this.#toolSlots.clear();
    for (const { tools } of this.#remembered.values()) {
      for (const tool of tools) {
        const text = this.#toolSlots.has(tool) ? undefined : this.#options.toolText(tool);
        if (text !== undefined) this.#toolSlots.set(tool, this.#toolTexts.add(text));
      }
    }
  }

  #learn({ subject, intent, uses }: LearnedIntent): void {
    const remembered = this.#remembered.get(subject);
    if (remembered === undefined) return;
    const limit = this.#texts.size < MANY_TEXTS ? MAX_TEXTS : MAX_TEXTS_OF_MANY;
    const isNew = !remembered.uses.has(intent);
    if (isNew && remembered.uses.size >= limit) return;
    if (remembered.uses.get(intent) === uses) return;
    this.#changes += 1;
    remembered.support += uses - (remembered.uses.get(intent) ?? 0);
    remembered.uses.set(intent, uses);
    if (!isNew) return;
    const text = this.#prepare(intent);
    const slot = this.#addText(remembered, intent);
    if (remembered.learned.has(slot)) return;
    remembered.learned.add(slot);
    this.#examples.push({ id: subject, words: placesOf(text), slot });
  }

  #addText(remembered: Remembered, intent: string): number {
    const slot = this.#texts.add(this.#prepare(intent));
    const { slots } = remembered;
    if (slots.has(slot)) return slot;
    const [first] = slots;
    slots.add(slot);
    if (first === undefined) return slot;
    const sum = (remembered.sum ??= this.#texts.vectorOf(first));
    const vector = this.#texts.vectorOf(slot);
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number);
    remembered.length = Math.sqrt(product(sum, sum)) || 1;
    return slot;
  }

  #prepare(intent: string): string {
    return this.#options.wordpiece.cut(delexicalise(intent), MAX_QUERY_PIECES);
  }

  /** Brings the model of a view up to date, or begins to. */
  #train(view: View): TrainedView {
    const known = this.#views.get(view.key);
    const trained = known ?? {
      model: new ToolModel(this.#options.lite.dimensions),
      examples: [],
      considered: 0,
      isBehind: false,
    };
    // the least recently used view is the first
    this.#views.delete(view.key);
    this.#views.set(view.key, trained);
    const [oldest] = this.#views.keys();
    if (this.#views.size > MAX_VIEWS && oldest !== undefined) this.#views.delete(oldest);
    if (!trained.isBehind) this.#continue(view, trained);
    return trained;
  }

  #continue(view: View, trained: TrainedView): void {
    const backlog = this.#examples.length - trained.considered;
    const replayed =
      backlog > LARGE_BACKLOG ? Math.max(FEWEST_REPLAYED, Math.floor(STEPS_OF_BACKLOG / backlog)) : undefined;
    const end = Math.min(this.#examples.length, trained.considered + LEARNED_AT_ONCE);
    for (; trained.considered < end; trained.considered += 1) {
      const example = this.#examples[trained.considered] as Example;
      if (!view.includes(example.id)) continue;
      const { examples } = trained;
      const earlier = { count: examples.length, at: (index: number) => this.#labelled(examples[index] as Example) };
      trained.model.learn(this.#labelled(example), earlier, replayed);
      examples.push(example);
    }
    trained.isBehind = end < this.#examples.length;
    if (!trained.isBehind) return;
    setImmediate(() => {
      if (this.#views.get(view.key) === trained) this.#continue(view, trained);
    });
  }

  #labelled({ id, words, slot }: Example): { features: IntentFeatures; labels: ReadonlySet<string> } {
    const features = { words, vector: this.#texts.vectorOf(slot) };
    return { features, labels: this.#remembered.get(id)?.labels ?? new Set() };
  }

  #judge(
    { model }: TrainedView,
    features: IntentFeatures,
  ): (labels: ReadonlySet<string>) => { readonly odds: number; readonly likelihood: number } {
    const logOdds = model.judge(features);
    // log(1 - p) of all labels; the log odds of a label turn it into log p
    let none = 0;
    for (const value of logOdds.values()) none -= Math.log1p(Math.exp(value));
    return (labels) => {
      let odds = 0;
      for (const label of labels) odds += logOdds.get(label) ?? 0;
      return { odds, likelihood: none + odds };
    };
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

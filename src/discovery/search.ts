import type { Recollection } from "./recall/capability-memory.ts";

/** A tool of a server, a learned capability, or a skill. */
type SearchKind = "tool" | "capability" | "skill";

interface SearchParameter {
  readonly name: string;
  readonly description?: string;
}

/** A findable item; each field has its own weight. */
export interface SearchDocument {
  /** `server:tool`, or `cap:` and the record's id, as in the graph. */
  readonly id: string;
  readonly kind: SearchKind;
  /** Server of a tool, namespace of a capability. */
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly SearchParameter[];
  readonly tags: readonly string[];
}

/** Kinds of evidence in a score. */
export type Evidence = "words" | "meaning" | "name" | "intents" | "record" | "context" | "graph";

export interface EvidencePart {
  /** Contribution to the ranking, in standard deviations over all candidates. */
  readonly points: number;
  readonly text: string;
}

type Explanation = Readonly<Partial<Record<Evidence, EvidencePart>>>;

export interface Ranked {
  readonly document: SearchDocument;
  /** Probability that this is the wanted item, from 0 to 1; never higher than the previous one's. */
  readonly score: number;
  readonly why: Explanation;
  /** Known failures in similar contexts. */
  readonly warnings: readonly string[];
}

export interface SearchOptions {
  /** Filters the results. */
  readonly accept?: (document: SearchDocument) => boolean;
  /** Tags of the task; past runs with the same tags count. */
  readonly contextTags?: readonly string[];
  /** Treats the text as several steps: the model embeds each clause as well, which takes longer. */
  readonly mission?: boolean;
  readonly limit?: number;
}

/** Available vectors: the model's, word vectors, or none. */
export type SearchTier = "full" | "lite" | "lexical";

export interface SearchAnswer {
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** Number of documents considered. */
  readonly searched: number;
  readonly tier: SearchTier;
  /** Evidence from past intents about each visible capability, by id. */
  readonly recollections: ReadonlyMap<string, Recollection>;
}

/** Searches everything that one viewer may see. */
export type Search = (query: string, options?: SearchOptions) => Promise<SearchAnswer>;

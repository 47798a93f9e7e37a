/** What can be found: a tool of a server (the base layer), a learned capability, a skill. */
type SearchKind = "tool" | "capability" | "skill";

interface SearchParameter {
  readonly name: string;
  readonly description?: string;
}

/** Something that can be found; each part of it counts differently. */
export interface SearchDocument {
  /** `server:tool`, or `cap:` and the id of a capability: the ids of the graph. */
  readonly id: string;
  readonly kind: SearchKind;
  /** Server of a tool, namespace of a capability. */
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly SearchParameter[];
  readonly tags: readonly string[];
}

/** The evidence a score is made of. */
export type Evidence = "words" | "meaning" | "name" | "record" | "context" | "graph";

export interface EvidencePart {
  /** What it adds to or takes from the ranking, in units of the spread among all candidates. */
  readonly points: number;
  readonly text: string;
}

type Why = Readonly<Partial<Record<Evidence, EvidencePart>>>;

export interface Ranked {
  readonly document: SearchDocument;
  /** How probable it is that this is what was asked for, from 0 to 1; never larger than that of the one before. */
  readonly score: number;
  readonly why: Why;
  /** What is known against it: failures in contexts like this one. */
  readonly warnings: readonly string[];
}

export interface SearchOptions {
  /** Only these are ranked. */
  readonly accept?: (document: SearchDocument) => boolean;
  /** What the task is like; past runs with the same tags count. */
  readonly contextTags?: readonly string[];
  /** The text is a mission of several steps: the model looks at each of its clauses as well, which takes longer. */
  readonly mission?: boolean;
  readonly limit?: number;
}

/** Which evidence about meaning was at hand: the model, the table of word vectors, or none. */
export type SearchTier = "full" | "lite" | "lexical";

export interface SearchAnswer {
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** How many were looked at. */
  readonly searched: number;
  readonly tier: SearchTier;
}

/** Finds what fits an intent among all that one scope may see. */
export type Search = (query: string, options?: SearchOptions) => Promise<SearchAnswer>;

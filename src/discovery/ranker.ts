/** Something that can be found: the text of each part counts differently. */
export interface SearchDocument {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Names of its arguments. */
  readonly arguments: readonly string[];
}

type DocumentPart = "name" | "description" | "arguments";

/** The words of the query that each part has. */
export type Why = Readonly<Partial<Record<DocumentPart, readonly string[]>>>;

export interface Ranked {
  readonly id: string;
  /** From 0, nothing in common, to 1. */
  readonly score: number;
  readonly why: Why;
}

/** Orders a fixed set of documents by how well they fit a query. What has nothing to do with it is left out. */
export interface Ranker {
  rank(query: string): readonly Ranked[];
}

export type CreateRanker = (documents: readonly SearchDocument[]) => Ranker;

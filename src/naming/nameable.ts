/** Input for a name. */
export interface Nameable {
  readonly id: string;
  readonly currentName: string;
  /** Intents of its runs, most frequent first. */
  readonly intents: readonly string[];
  readonly code: string;
  readonly tools: readonly string[];
  readonly parameters: readonly string[];
}

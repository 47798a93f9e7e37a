/** What a name is made from. */
export interface Nameable {
  readonly id: string;
  readonly currentName: string;
  /** What it was run for, the most usual first. */
  readonly intents: readonly string[];
  readonly code: string;
  readonly tools: readonly string[];
  /** Names of its parameters. */
  readonly parameters: readonly string[];
}

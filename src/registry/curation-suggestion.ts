/** A proposed name for a capability. */
export interface CurationSuggestion {
  readonly id: string;
  readonly currentName: string;
  readonly suggestedName: string;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly reasoning: string;
}

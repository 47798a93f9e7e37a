export interface Prompt {
  /** Instructions. */
  readonly system: string;
  /** Data. */
  readonly user: string;
  readonly maxTokens: number;
}

/** Completes a prompt; throws a `PmlError` with code `model_failed` if it cannot. */
export interface LanguageModel {
  readonly source: "model" | "sampling";
  complete(prompt: Prompt, signal: AbortSignal): Promise<string>;
}

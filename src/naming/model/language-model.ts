/** What a model is asked. */
export interface Prompt {
  /** What it is to do, in general. */
  readonly system: string;
  /** What it is to do it with. */
  readonly user: string;
  readonly maxTokens: number;
}

/** Whatever can answer a prompt. It throws a `PmlError` with code `model_failed` when it cannot. */
export interface LanguageModel {
  readonly source: "model" | "sampling";
  complete(prompt: Prompt, signal: AbortSignal): Promise<string>;
}

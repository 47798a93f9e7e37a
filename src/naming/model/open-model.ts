import { z } from "zod";
import type { ConfigValues } from "../../config/schema.ts";
import { readSecret } from "../../config/secret-reference.ts";
import { PmlError } from "../../base/errors.ts";
import type { LanguageModel, Prompt } from "./language-model.ts";
import { postJson } from "./post-json.ts";

type Curation = ConfigValues["curation"];
type Provider = NonNullable<Curation["provider"]>;

/** Opens the configured model; undefined if none is, and heuristics name alone. */
export function openModel(curation: Curation): LanguageModel | undefined {
  const { provider, timeoutSeconds } = curation;
  if (provider === undefined) return undefined;
  const model = fullName(curation.model, provider);
  return {
    source: "model",
    async complete(prompt, signal) {
      const request =
        provider.type === "anthropic" ? toMessages(provider, model, prompt) : toChat(provider, model, prompt);
      const answer = await postJson({ ...request, timeoutMs: timeoutSeconds * 1000, signal });
      return provider.type === "anthropic" ? readMessage(answer) : readChoice(answer);
    },
  };
}

/** Short names of model families. */
const FAMILIES: Readonly<Record<string, string>> = {
  haiku: "claude-haiku-4-5",
  sonnet: "claude-sonnet-4-5",
  opus: "claude-opus-4-5",
};

function fullName(model: string, { type }: Provider): string {
  return type === "anthropic" ? (FAMILIES[model] ?? model) : model;
}

interface ModelRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const ANTHROPIC_VERSION = "2023-06-01";

function toMessages(
  { apiKey, baseUrl }: Extract<Provider, { type: "anthropic" }>,
  model: string,
  prompt: Prompt,
): ModelRequest {
  return {
    url: `${withoutSlash(baseUrl)}/v1/messages`,
    headers: { "x-api-key": readSecret(apiKey), "anthropic-version": ANTHROPIC_VERSION },
    body: {
      model,
      max_tokens: prompt.maxTokens,
      system: prompt.system,
      messages: [{ role: "user", content: prompt.user }],
    },
  };
}

/** Sends no token limit: OpenAI-compatible servers disagree on its name, and the answer is short. */
function toChat(
  { apiKey, baseUrl }: Extract<Provider, { type: "openai" }>,
  model: string,
  prompt: Prompt,
): ModelRequest {
  return {
    url: `${withoutSlash(baseUrl)}/chat/completions`,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${readSecret(apiKey)}` },
    body: {
      model,
      messages: [
        { role: "system", content: prompt.system },
        { role: "user", content: prompt.user },
      ],
    },
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

const message = z.object({ content: z.array(z.object({ type: z.string(), text: z.string().optional() })) });
const chat = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1) });

function readMessage(answer: unknown): string {
  const parsed = message.safeParse(answer);
  if (!parsed.success) throw malformed(answer);
  return parsed.data.content.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])).join("");
}

function readChoice(answer: unknown): string {
  const parsed = chat.safeParse(answer);
  if (!parsed.success) throw malformed(answer);
  return parsed.data.choices[0]?.message.content ?? "";
}

const LONGEST_EXCERPT = 200;

function malformed(answer: unknown): PmlError {
  const excerpt = JSON.stringify(answer).slice(0, LONGEST_EXCERPT);
  return new PmlError("model_failed", `The language model sent an answer of an unexpected format: ${excerpt}`, {
    hint: "Check that curation.provider.type matches the server",
  });
}

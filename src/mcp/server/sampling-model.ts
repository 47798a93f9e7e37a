import { z } from "zod";
import { PmlError } from "../../base/errors.ts";
import type { LanguageModel } from "../../naming/model/language-model.ts";
import type { Ask } from "../../upstream/active-calls.ts";

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
/** One block, or several, since clients may answer with tools in between. */
const answered = z.object({ content: z.union([textBlock, z.array(z.unknown())]) });

/** Asks the model that a client lends. */
export function createSamplingModel(ask: Ask): LanguageModel {
  return {
    source: "sampling",
    async complete({ system, user, maxTokens }, signal) {
      const answer = await ask({
        method: "sampling/createMessage",
        params: {
          systemPrompt: system,
          messages: [{ role: "user", content: { type: "text", text: user } }],
          maxTokens,
          includeContext: "none",
        },
      });
      signal.throwIfAborted();
      return readText(answer);
    },
  };
}

function readText(answer: unknown): string {
  const parsed = answered.safeParse(answer);
  if (!parsed.success) throw new PmlError("model_failed", "The client's model did not answer with text");
  const { content } = parsed.data;
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.flatMap((block) => textBlock.safeParse(block).data?.text ?? []).join("");
}

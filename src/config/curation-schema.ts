import { z } from "zod";
import { isSecureUrl } from "./edge-schema.ts";
import { secretReference } from "./secret-schema.ts";

const baseUrl = z.string().refine(isSecureUrl, "must be an https:// URL (http:// only on loopback)");

const provider = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("anthropic"),
    apiKey: secretReference.describe('`{"env": "NAME"}` or `{"file": "/path"}`.'),
    baseUrl: baseUrl.default("https://api.anthropic.com"),
  }),
  z.strictObject({
    type: z.literal("openai"),
    apiKey: secretReference.optional().describe("Left out: none is sent, as servers on this machine want it."),
    baseUrl: baseUrl.default("https://api.openai.com/v1").describe("Of anything that speaks chat completions."),
  }),
]);

/** How capabilities that nobody named get a name. */
export const curationSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .default("haiku")
    .describe("With a provider: `haiku`, `sonnet`, `opus`, or any name that the provider knows."),
  provider: provider
    .optional()
    .describe("A language model that proposes names. Left out: tools, intent and code decide, and nothing is sent."),
  sampling: z
    .boolean()
    .default(false)
    .describe("Without a provider, ask the model of the client that curates, if it offers one."),
  timeoutSeconds: z.number().positive().default(30).describe("How long a model may take for one answer."),
  afterUnnamed: z
    .number()
    .int()
    .nonnegative()
    .default(10)
    .describe("So many new unnamed capabilities make PML look for names by itself; 0: never."),
  auto: z.boolean().default(false).describe("It then also gives those that are sure enough; the others wait."),
  minConfidence: z.number().min(0).max(1).default(0.8).describe("Above this a name is given without asking."),
});

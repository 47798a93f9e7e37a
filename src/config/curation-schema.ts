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
    apiKey: secretReference.optional().describe("If omitted, no key is sent, which suits servers on this machine."),
    baseUrl: baseUrl.default("https://api.openai.com/v1").describe("Base address of any API with chat completions."),
  }),
]);

/** How unnamed capabilities get a name. */
export const curationSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .default("haiku")
    .describe("With a provider: `haiku`, `sonnet`, `opus`, or any name that the provider knows."),
  provider: provider
    .optional()
    .describe(
      "A language model that proposes names. If omitted, PML derives names from tools, intent and code, and sends nothing.",
    ),
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
    .describe("Number of new unnamed capabilities after which PML proposes names by itself; 0 never does."),
  auto: z
    .boolean()
    .default(false)
    .describe("Apply proposals above `minConfidence` at once; the others wait for a decision."),
  minConfidence: z.number().min(0).max(1).default(0.8).describe("Confidence above which `auto` applies a name."),
});

import { z } from "zod";
import { secretReference } from "./secret-schema.ts";

export const discoverySchema = z
  .strictObject({
    tier: z
      .enum(["full", "lite"])
      .default("full")
      .describe(
        "How meaning is compared: full with the model that ships with PML (about 60 MB of memory once it is used), lite with its table of word vectors alone.",
      ),
    endpoint: z
      .strictObject({
        url: z.url().describe("Base address of an OpenAI-compatible API, as `http://127.0.0.1:11434/v1` of Ollama."),
        model: z.string().min(1).describe("Name of the embedding model there."),
        dimensions: z.number().int().positive().describe("Length of its vectors."),
        apiKey: secretReference.optional().describe('Its key: `{"env": "NAME"}` or `{"file": "/path"}`.'),
      })
      .optional()
      .describe("An embedding model elsewhere, instead of the one that ships with PML. Texts of tools are sent there."),
    transformers: z
      .strictObject({
        folder: z
          .string()
          .min(1)
          .describe(
            "Folder in which you installed `@huggingface/transformers`: the one that has `node_modules` in it.",
          ),
        model: z.string().min(1).describe("Name or folder of a feature extraction model, as transformers.js takes it."),
        dimensions: z.number().int().positive().describe("Length of its vectors."),
      })
      .optional()
      .describe("A model that your own transformers.js runs on this machine, instead of the one that ships with PML."),
    runAbove: z
      .number()
      .min(0)
      .max(1)
      .default(0.98)
      .describe(
        "How sure it must be that a capability is meant before `pml_execute` with an intent and context runs it by itself. From 0.98 on, at least 149 suggestions that were followed must show that such confidence is right; below, you take the risk.",
      ),
  })
  .refine(({ endpoint, transformers }) => endpoint === undefined || transformers === undefined, {
    error: "endpoint and transformers are both given: only one model can be used",
  });

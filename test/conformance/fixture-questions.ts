import {
  type CallToolResult,
  type ElicitRequestFormParams,
  inputRequired,
  type InputRequest,
  type InputRequiredResult,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { textResult } from "./fixture-content.ts";

/** Asks until there is an answer, which becomes the result. The SDK pushes the question to clients of the 2025 era. */
function askOnce(
  { mcpReq }: ServerContext,
  question: InputRequest,
  describe: (answer: string) => string,
): CallToolResult | InputRequiredResult {
  const answer = inputResponse(mcpReq.inputResponses, "answer");
  if (answer.kind === "missing") return inputRequired({ inputRequests: { answer: question } });
  const { kind: _kind, ...given } = answer;
  return textResult(describe(JSON.stringify(given)));
}

export function addQuestionTools(mcp: McpServer): void {
  const prompt = z.object({ prompt: z.string().describe("What to ask the model") });
  mcp.registerTool("test_sampling", { description: "Asks the client's model", inputSchema: prompt }, (args, ctx) =>
    askOnce(ctx, sampling(args.prompt), (answer) => `LLM response: ${answer}`),
  );
  const message = z.object({ message: z.string().describe("What to show the user") });
  mcp.registerTool("test_elicitation", { description: "Asks the user", inputSchema: message }, (args, ctx) => {
    const requestedSchema = z.object({
      username: z.string().describe("User's response"),
      email: z.string().describe("User's email address"),
    });
    const question = inputRequired.elicit({ message: args.message, requestedSchema });
    return askOnce(ctx, question, (answer) => `User response: ${answer}`);
  });
  mcp.registerTool("test_streaming_elicitation", { description: "Asks the user for a word" }, (ctx) => {
    const requestedSchema = z.object({ word: z.string() });
    return askOnce(ctx, inputRequired.elicit({ message: "Say a word", requestedSchema }), (answer) => answer);
  });
  mcp.registerTool("test_missing_capability", { description: "Works only for clients with sampling" }, (ctx) =>
    askOnce(ctx, sampling("Say something"), (answer) => answer),
  );
}

export function sampling(text: string, maxTokens = 100): InputRequest {
  return inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens });
}

type FormSchema = ElicitRequestFormParams["requestedSchema"];

const DEFAULTS_FORM: FormSchema = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
};

const TITLED = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
  { const: "value3", title: "Third" },
];
const OPTIONS = ["option1", "option2", "option3"];

const ENUMS_FORM: FormSchema = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: OPTIONS },
    titledSingle: { type: "string", oneOf: TITLED },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
    titledMulti: { type: "array", items: { anyOf: TITLED } },
  },
};

/** Adds tools whose forms use every field type. */
export function addFormTools(mcp: McpServer): void {
  const forms = { test_elicitation_sep1034_defaults: DEFAULTS_FORM, test_elicitation_sep1330_enums: ENUMS_FORM };
  for (const [name, requestedSchema] of Object.entries(forms)) {
    mcp.registerTool(name, { description: "Asks the user to fill in a form" }, (ctx) => {
      const question = inputRequired.elicit({ message: "Please fill in the form", requestedSchema });
      return askOnce(ctx, question, (answer) => `Elicitation completed: ${answer}`);
    });
  }
}

import {
  acceptedContent,
  completable,
  type GetPromptResult,
  inputRequired,
  type McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { PIXEL_PNG } from "./fixture-content.ts";

type PromptContent = GetPromptResult["messages"][number]["content"];

function userMessages(...contents: PromptContent[]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: "user", content })) };
}

const ARGUMENT_VALUES = ["paris", "park", "party", "test"];

export function addPrompts(mcp: McpServer): void {
  mcp.registerPrompt("test_simple_prompt", { description: "Has no arguments" }, () =>
    userMessages({ type: "text", text: "This is a simple prompt for testing." }),
  );
  const first = completable(z.string().describe("First test argument"), (start) =>
    ARGUMENT_VALUES.filter((value) => value.startsWith(start)),
  );
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "Has two arguments",
      argsSchema: z.object({ arg1: first, arg2: z.string().describe("Second test argument") }),
    },
    ({ arg1, arg2 }) => userMessages({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    {
      description: "Embeds a resource",
      argsSchema: z.object({ resourceUri: z.string().describe("URI of the resource to embed") }),
    },
    ({ resourceUri }) =>
      userMessages(
        {
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        },
        { type: "text", text: "Please process the embedded resource above." },
      ),
  );
  mcp.registerPrompt("test_prompt_with_image", { description: "Has an image" }, () =>
    userMessages(
      { type: "image", data: PIXEL_PNG, mimeType: "image/png" },
      { type: "text", text: "Please analyze the image above." },
    ),
  );
  addAskingPrompt(mcp);
}

const contextForm = z.object({ context: z.string() });

function addAskingPrompt(mcp: McpServer): void {
  mcp.registerPrompt("test_input_required_result_prompt", { description: "Asks before it answers" }, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "user_context", contextForm);
    if (answer !== undefined) return userMessages({ type: "text", text: `Use this context: ${answer.context}` });
    const message = "What context should the prompt use?";
    return inputRequired({
      inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema: contextForm }) },
    });
  });
}

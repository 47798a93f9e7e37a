import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  inputRequired,
  type InputRequest,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { textResult } from "./fixture-content.ts";
import { sampling } from "./fixture-questions.ts";

/** State of a tool between two rounds of a call. */
interface RoundState {
  readonly name?: string;
}

export const stateCodec: RequestStateCodec<RoundState> = createRequestStateCodec<RoundState>({ key: randomBytes(32) });

const nameForm = z.object({ name: z.string() });
const colorForm = z.object({ color: z.string() });
const confirmForm = z.object({ ok: z.boolean() });

function ask(message: string, requestedSchema: z.ZodObject): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}

/** Adds tools that stop at a question and are called again with the answer. */
export function addRoundTripTools(mcp: McpServer): void {
  addSingleQuestions(mcp);
  addStatefulQuestions(mcp);
  addMultiRound(mcp);
  addMultipleQuestions(mcp);
}

function addSingleQuestions(mcp: McpServer): void {
  mcp.registerTool("test_input_required_result_elicitation", { description: "Asks for a name" }, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "user_name", nameForm);
    if (answer !== undefined) return textResult(`Hello, ${answer.name}!`);
    return inputRequired({ inputRequests: { user_name: ask("What is your name?", nameForm) } });
  });
  mcp.registerTool("test_input_required_result_sampling", { description: "Asks the model" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "capital_question");
    if (answer.kind === "sampling") return textResult(JSON.stringify(answer.result.content));
    return inputRequired({ inputRequests: { capital_question: sampling("What is the capital of France?") } });
  });
  mcp.registerTool("test_input_required_result_list_roots", { description: "Asks for the roots" }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "client_roots");
    if (answer.kind === "roots") return textResult(answer.roots.map(({ uri }) => uri).join("\n"));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
}

function addStatefulQuestions(mcp: McpServer): void {
  for (const name of ["test_input_required_result_request_state", "test_input_required_result_tampered_state"]) {
    mcp.registerTool(name, { description: "Asks with a sealed state" }, async (ctx) => {
      const { mcpReq } = ctx;
      const answer = acceptedContent(mcpReq.inputResponses, "confirm", confirmForm);
      // The SDK refuses a tampered state before it calls the tool.
      if (answer !== undefined && mcpReq.requestState<RoundState>() !== undefined) return textResult("state-ok");
      const requestState = await stateCodec.mint({}, ctx);
      return inputRequired({ inputRequests: { confirm: ask("Please confirm", confirmForm) }, requestState });
    });
  }
}

function addMultiRound(mcp: McpServer): void {
  mcp.registerTool("test_input_required_result_multi_round", { description: "Asks twice" }, async (ctx) => {
    const { mcpReq } = ctx;
    const name =
      mcpReq.requestState<RoundState>()?.name ?? acceptedContent(mcpReq.inputResponses, "step1", nameForm)?.name;
    if (name === undefined) {
      const requestState = await stateCodec.mint({}, ctx);
      return inputRequired({ inputRequests: { step1: ask("Step 1: What is your name?", nameForm) }, requestState });
    }
    const answer = acceptedContent(mcpReq.inputResponses, "step2", colorForm);
    if (answer !== undefined) return textResult(`${name} likes ${answer.color}`);
    const step2 = ask("Step 2: What is your favorite color?", colorForm);
    return inputRequired({ inputRequests: { step2 }, requestState: await stateCodec.mint({ name }, ctx) });
  });
}

function addMultipleQuestions(mcp: McpServer): void {
  const questions = {
    user_name: ask("What is your name?", nameForm),
    greeting: sampling("Generate a greeting", 50),
    client_roots: inputRequired.listRoots(),
  };
  mcp.registerTool("test_input_required_result_multiple_inputs", { description: "Asks thrice" }, async (ctx) => {
    const open = Object.keys(questions).filter(
      (key) => inputResponse(ctx.mcpReq.inputResponses, key).kind === "missing",
    );
    if (open.length === 0) return textResult("All answers are there");
    return inputRequired({ inputRequests: questions, requestState: await stateCodec.mint({}, ctx) });
  });
  mcp.registerTool("test_input_required_result_capabilities", { description: "Asks what it may" }, ({ mcpReq }) => {
    const envelope: Record<string, unknown> = { ...mcpReq.envelope };
    const { elicitation, sampling: model } = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
    const inputRequests = {
      ...(elicitation === undefined ? {} : { user_name: questions.user_name }),
      ...(model === undefined ? {} : { greeting: questions.greeting }),
    };
    const answered = Object.keys(inputRequests).every((key) => key in (mcpReq.inputResponses ?? {}));
    return answered ? textResult("All answers are there") : inputRequired({ inputRequests });
  });
}

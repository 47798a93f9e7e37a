import { toVisible } from "../base/visible.ts";
import { type Approval, type ApprovalDecision, readAnswer } from "./approval.ts";

/** An elicitation request: text, and a form with one choice. */
export interface ApprovalQuestion {
  readonly method: "elicitation/create";
  readonly params: { readonly message: string; readonly requestedSchema: Record<string, unknown> };
}

const LONGEST_CODE = 4_000;
const LONGEST_INPUT = 1_000;

/** Puts a question before a person through the client that asks, and returns the client's reply. */
export type AskByForm = (question: ApprovalQuestion) => Promise<Record<string, unknown>>;

/**
 * Asks by a form; undefined where the form decides nothing. A form cannot be told from a client that answers itself, so
 * it allows once, nothing destructive, and only what the asking run itself requested.
 */
export async function askByForm(
  form: AskByForm | undefined,
  approval: Approval,
  { runId, by }: { readonly runId: string; readonly by: string },
): Promise<ApprovalDecision | undefined> {
  const isOwn = approval.runId === runId && approval.state === "pending";
  if (form === undefined || !isOwn || approval.tools.some(({ effect }) => effect === "destructive")) return undefined;
  return readReply(await form(buildQuestion(approval)), by);
}

export function buildQuestion(approval: Approval): ApprovalQuestion {
  const choices = [
    { value: "once", name: "Allow once" },
    { value: "refuse", name: "Refuse" },
  ];
  const requestedSchema = {
    type: "object",
    properties: {
      answer: {
        type: "string",
        title: "Your decision",
        enum: choices.map(({ value }) => value),
        enumNames: choices.map(({ name }) => name),
      },
      reason: { type: "string", title: "Your reason; the agent gets it" },
    },
    required: ["answer"],
  };
  return { method: "elicitation/create", params: { message: describe(approval), requestedSchema } };
}

/**
 * Reads a client's reply; undefined if no person decided. Clients without a user decline by themselves, so a declined
 * form leaves the approval pending for the other channels.
 */
export function readReply(reply: Readonly<Record<string, unknown>>, by: string): ApprovalDecision | undefined {
  const { action, content } = reply;
  if (action !== "accept" || typeof content !== "object" || content === null) return undefined;
  const { answer, reason } = content as Record<string, unknown>;
  if (answer === "always") return undefined; // no form offers it
  return readAnswer(answer, { by, via: "elicitation", reason });
}

function describe({ id, intent, capability, tools, reasons, input, code }: Approval): string {
  const calls = tools.map(({ tool, effect }) => `${tool} (${effect})`).join(", ");
  const parts = [
    `A program${capability === undefined ? "" : `, ${capability},`} wants to run: ${intent}`,
    `It would call: ${calls}`,
    `Why you are asked:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`,
    ...(input === undefined ? [] : [`With: ${cut(JSON.stringify(input), LONGEST_INPUT, id)}`]),
    `The program:\n${cut(code, LONGEST_CODE, id)}`,
  ];
  return toVisible(parts.join("\n\n"));
}

function cut(text: string, length: number, id: string): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (all of it: pml inbox ${id})`;
}

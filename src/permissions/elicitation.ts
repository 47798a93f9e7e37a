import { type Approval, type ApprovalDecision, readAnswer } from "./approval.ts";
import { renderQuestion } from "./render-question.ts";

/** An elicitation request: text, and a form with one choice. */
export interface ApprovalQuestion {
  readonly method: "elicitation/create";
  readonly params: { readonly message: string; readonly requestedSchema: Record<string, unknown> };
}

/** Forms of clients are small windows; a longer question is decided on the page or the terminal, which show all of it. */
const LONGEST_MESSAGE = 8_000;

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
  const question = buildQuestion(approval);
  return question && readReply(await form(question), by);
}

/** Builds the form; undefined where the question does not fit, since nobody may approve what was cut. */
export function buildQuestion(approval: Approval): ApprovalQuestion | undefined {
  const message = renderQuestion(approval);
  if (message.length > LONGEST_MESSAGE) return undefined;
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
  return { method: "elicitation/create", params: { message, requestedSchema } };
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

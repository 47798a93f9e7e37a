import { toVisible } from "../visible.ts";
import type { Approval, ApprovalDecision } from "./approval.ts";

/** What the gateway sends a client that can ask its user: text, and a form of one choice. */
export interface Question {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: "object";
    readonly properties: {
      readonly answer: {
        readonly type: "string";
        readonly title: string;
        readonly enum: string[];
        readonly enumNames: string[];
      };
      readonly reason: { readonly type: "string"; readonly title: string };
    };
    readonly required: ["answer"];
  };
}

const LONGEST_CODE = 4_000;
const LONGEST_INPUT = 1_000;

export function questionFor(approval: Approval): Question {
  const { tools } = approval;
  const remembered = tools.filter(({ rememberable }) => rememberable).map(({ tool }) => tool);
  const choices: [string, string][] = [
    ["once", "Allow once"],
    ...(remembered.length === 0
      ? []
      : ([["always", `Always allow ${toVisible(remembered.join(", "))} in this very program`]] as [string, string][])),
    ["refuse", "Refuse"],
  ];
  return {
    message: describe(approval),
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "Your decision",
          enum: choices.map(([value]) => value),
          enumNames: choices.map(([, name]) => name),
        },
        reason: { type: "string", title: "Your reason; the agent gets it" },
      },
      required: ["answer"],
    },
  };
}

/** As the client sends it back. */
export interface QuestionAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What a client's answer means; undefined when nobody decided. Clients without anybody in front of them
 * decline by themselves, so that is no refusal: the question stays open for the other ways.
 */
export function readQuestionAnswer(
  { action, content = {} }: QuestionAnswer,
  client: string,
): ApprovalDecision | undefined {
  if (action !== "accept") return undefined;
  const reason = typeof content["reason"] === "string" && content["reason"] !== "" ? content["reason"] : undefined;
  const given = { by: client, via: "elicitation", reason } as const;
  switch (content["answer"]) {
    case "once":
      return { ...given, decision: "approve" };
    case "always":
      return { ...given, decision: "approve", remember: true };
    case "refuse":
      return { ...given, decision: "refuse" };
    default:
      return undefined;
  }
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

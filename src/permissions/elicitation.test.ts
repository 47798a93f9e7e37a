import { expect, test } from "vitest";
import { askedTool, askFor } from "../../test/support/approvals.ts";
import type { Approval } from "./approval.ts";
import { buildQuestion, readReply } from "./elicitation.ts";
import { showBinding } from "./show-binding.ts";

function approvalOf(changes: Parameters<typeof askFor>[0] = {}): Approval {
  const { verdict, client = "", capability = "", ...request } = askFor(changes);
  return {
    ...request,
    client,
    capability,
    binding: showBinding(request.binding, { placeholderOf: () => "hidden" }),
    principal: request.binding.principal,
    id: "apr_1",
    state: "pending",
    tools: verdict.tools,
    reasons: verdict.reasons,
    createdAt: new Date(),
    expiresAt: new Date(),
  };
}

test("the question describes the plan and never offers to remember", () => {
  const mixed = buildQuestion(
    approvalOf({ tools: [askedTool("a:put"), askedTool("a:drop", { effect: "destructive", rememberable: false })] }),
  );
  expect(mixed?.params.message).toContain("Remember the total");
  expect(mixed?.params.message).toMatch(/a:put \(write\) asks.*\n.*a:drop \(destructive\) asks/);
  expect(mixed?.params.message).toContain("await mcp.memory.create_entities(");
  expect(mixed?.params.requestedSchema).toMatchObject({
    properties: {
      answer: {
        enum: ["once", "refuse"],
        enumNames: ["Allow once", "Refuse"],
      },
    },
  });
});

test("M3: a question that does not fit into a form is not asked by form, and invisible characters are made visible", () => {
  expect(buildQuestion(approvalOf({ code: "x".repeat(10_000) }))).toBeUndefined();
  expect(buildQuestion(approvalOf({ code: "x".repeat(5_000) }))?.params.message).toContain("x".repeat(5_000));
  const { message = "" } = buildQuestion(approvalOf({ intent: "safe \u202E\u001B[2J" }))?.params ?? {};
  expect(message).toContain("safe \u27E6U+202E\u27E7\u27E6U+001B\u27E7[2J");
});

test.each([
  [{ action: "accept", content: { answer: "once" } }, { decision: "approve" }],
  [
    { action: "accept", content: { answer: "refuse", reason: "no" } },
    { decision: "refuse", reason: "no" },
  ],
] as const)("the answer %j is a decision", (answer, decision) => {
  const read = readReply(answer, "a-client");
  expect(read).toEqual({ ...decision, via: "elicitation", by: "a-client" });
});

test.each([
  { action: "decline" },
  { action: "cancel" },
  { action: "accept" },
  { action: "accept", content: { answer: "yes" } },
  { action: "accept", content: { answer: "always" } },
  { action: "decline", content: { answer: "once" } },
] as const)("the answer %j decides nothing", (answer) => {
  expect(readReply(answer, "a-client")).toBeUndefined();
});

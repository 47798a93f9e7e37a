import { expect, test } from "vitest";
import { askedTool, askFor } from "../../test/support/approvals.ts";
import type { Approval } from "./approval.ts";
import { buildQuestion, readReply } from "./elicitation.ts";

function approvalOf(changes: Parameters<typeof askFor>[0] = {}): Approval {
  const { verdict, client: _client, ...request } = askFor(changes);
  return {
    ...request,
    id: "apr_1",
    state: "pending",
    tools: verdict.tools,
    reasons: verdict.reasons,
    createdAt: new Date(),
    expiresAt: new Date(),
  } as Approval;
}

test("the question describes the plan and never offers to remember", () => {
  const mixed = buildQuestion(
    approvalOf({ tools: [askedTool("a:put"), askedTool("a:drop", { effect: "destructive", rememberable: false })] }),
  );
  expect(mixed.params.message).toContain("Remember the total");
  expect(mixed.params.message).toContain("a:put (write), a:drop (destructive)");
  expect(mixed.params.message).toContain("await mcp.memory.create_entities(");
  expect(mixed.params.requestedSchema).toMatchObject({
    properties: {
      answer: {
        enum: ["once", "refuse"],
        enumNames: ["Allow once", "Refuse"],
      },
    },
  });
});

test("long programs are cut with a pointer to the full text, and invisible characters are made visible", () => {
  const { message } = buildQuestion(approvalOf({ code: "x".repeat(10_000), intent: "safe \u202E\u001B[2J" })).params;
  expect(message.length).toBeLessThan(6_000);
  expect(message).toContain("… (all of it: pml inbox apr_1)");
  expect(message).toContain("safe \\u{202e}\\u{1b}[2J");
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

import { expect, test } from "vitest";
import { decideNames } from "./decide-names.ts";

const suggestions = ["a", "b", "c", "d", "e"].map((id) => ({
  id,
  currentName: `unnamed_${id}`,
  suggestedName: `fs:read_${id}`,
  confidence: 0.9,
  reasoning: "tools",
  source: "heuristic" as const,
}));

test("each proposal is taken, turned down, left, or given another name, until one has had enough", async () => {
  const questions: string[] = [];
  const answers = ["y", "n", "", " fs:load_d ", "q"];
  const decisions = await decideNames(suggestions, async (question) => answers[questions.push(question) - 1] ?? "");
  expect(decisions).toEqual({
    renames: [
      { id: "a", name: "fs:read_a" },
      { id: "d", name: "fs:load_d" },
    ],
    rejects: ["b"],
    stopped: true,
  });
  expect(questions[0]).toContain("unnamed_a → fs:read_a  0.90");
});

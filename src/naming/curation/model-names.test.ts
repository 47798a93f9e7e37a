import { expect, test } from "vitest";
import { PmlError } from "../../base/errors.ts";
import type { LanguageModel, Prompt } from "../model/language-model.ts";
import type { Nameable } from "../nameable.ts";
import { withoutLiterals } from "../program-clues.ts";
import { askForNames } from "./model-names.ts";

function nameables(count: number): Nameable[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    currentName: `unnamed_${index}`,
    intents: ["list issues"],
    code: `return await mcp.github.list_issues({ owner: "somebody's company", limit: 12345 });`,
    tools: ["github:list_issues"],
    parameters: [],
  }));
}

interface Scripted extends LanguageModel {
  readonly prompts: readonly Prompt[];
}

function scripted(answer: (batch: { n: number }[], turn: number) => string): Scripted {
  const prompts: Prompt[] = [];
  return {
    source: "model",
    prompts,
    complete: async (prompt) => answer(JSON.parse(prompt.user) as { n: number }[], prompts.push(prompt)),
  };
}

const { signal } = new AbortController();
const nameAll = (batch: { n: number }[], turn: number): string =>
  JSON.stringify(batch.map(({ n }) => ({ n, name: `api:list_issues_${turn}${n}`, reason: "it lists" })));

test("twenty capabilities are asked for in four batches of five", async () => {
  const model = scripted(nameAll);
  const { names, warnings } = await askForNames(model, nameables(20), signal);
  expect(model.prompts).toHaveLength(4);
  expect(names.size).toBe(20);
  expect(warnings).toEqual([]);
  expect(names.get("id-7")).toMatchObject({ name: "api:list_issues_23" });
});

test("the prompt has tools, intent and the first 200 characters of code, without literals", async () => {
  const model = scripted(nameAll);
  await askForNames(model, nameables(1), signal);
  const [program] = JSON.parse(model.prompts[0]?.user ?? "") as [Record<string, unknown>];
  expect(program).toEqual({
    n: 1,
    tools: ["github:list_issues"],
    intent: "list issues",
    code: 'return await mcp.github.list_issues({ owner: "…", limit: 0 });',
  });
  expect(withoutLiterals(`a("${"x".repeat(500)}", 'b\\'c', \`d\${e}\`) // f`)).toBe(`a("…", '…', \`…\`) `);
});

test("text around the answer is ignored; illegal and missing names become warnings", async () => {
  const answer = [
    { n: 1, name: "api:list_issues", reason: "r" },
    { n: 2, name: "Not a name!" },
    { n: 9, name: "api:x" },
  ];
  const model = scripted(() => `Here you are:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``);
  const { names, warnings } = await askForNames(model, nameables(3), signal);
  expect([...names.keys()]).toEqual(["id-0"]);
  expect(warnings).toEqual([
    'The model proposed "Not a name!" for unnamed_1, which is no legal name',
    "The model gave no name for unnamed_2",
  ]);
});

test("a failing or malformed answer becomes a warning; the other batches continue", async () => {
  const model = scripted((batch, turn) => {
    if (turn === 1) throw new PmlError("model_failed", "it is down");
    return turn === 2 ? "I would rather not." : nameAll(batch, turn);
  });
  const { names, warnings } = await askForNames(model, nameables(12), signal);
  expect([...names.keys()]).toEqual(["id-10", "id-11"]);
  expect(warnings[0]).toBe("it is down");
  expect(warnings).toHaveLength(6);
});

import { expect, test } from "vitest";
import { z } from "zod";
import { createLogger } from "../../base/log.ts";
import { PmlError } from "../../base/errors.ts";
import { callOwnTool, type MadeCall } from "./call-own-tool.ts";
import { type CallContext, defineTool, type OwnAnswer } from "./own-tool.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const context: CallContext = {
  client: "test",
  principal: undefined,
  signal: new AbortController().signal,
  progress: () => undefined,
  meta: undefined,
};

const input = z.strictObject({
  text: z.string().min(2),
  filter: z.strictObject({ kind: z.enum(["a", "b"]).default("a"), least: z.number().optional() }).prefault({}),
  count: z.number().int().max(5).default(1),
});

function call(
  values: unknown,
  run?: (value: z.output<typeof input>) => OwnAnswer,
  structured = true,
): Promise<MadeCall> {
  const tool = defineTool({
    name: "pml_test",
    title: "Test",
    description: "For tests",
    input,
    annotations: { readOnlyHint: true },
    run: run ?? ((value) => ({ kind: "json", value })),
  });
  return callOwnTool({ tool, input: values, context, structured, log });
}

test("a tool gets its arguments with their defaults and answers the same as text and as structure", async () => {
  const value = { text: "hi", filter: { kind: "a" }, count: 1 };
  expect(await call({ text: "hi" })).toEqual({
    result: { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value },
    whole: false,
  });
  const { result } = await call({ text: "hi" }, undefined, false);
  expect(Object.keys(result)).toEqual(["content"]);
});

test("a tool describes itself by its schema", () => {
  const { definition } = defineTool({
    name: "pml_x",
    title: "X",
    description: "…",
    input: z.strictObject({ n: z.number().default(3) }),
    annotations: {},
    meta: { "a/b": true },
    run: () => ({ kind: "content", content: [] }),
  });
  expect(definition).toEqual({
    name: "pml_x",
    title: "X",
    description: "…",
    inputSchema: { type: "object", properties: { n: { type: "number", default: 3 } }, additionalProperties: false },
    annotations: {},
    _meta: { "a/b": true },
  });
});

test.each([
  [undefined, `"text": expected string, got nothing`],
  [{ text: 7 }, `"text": expected string, got 7`],
  [{ text: "x" }, `"text": expected at least 2 characters, got "x"`],
  [{ text: "hi", count: 9 }, `"count": expected at most 5, got 9`],
  [{ text: "hi", count: 1.5 }, `"count": expected int, got 1.5`],
  [{ text: "hi", filter: { kind: "c" } }, `"filter.kind": expected "a" or "b", got "c"`],
  [{ text: "hi", filter: { leest: 1 } }, `"filter.leest": expected the field "least", got an unknown field`],
  [{ text: "hi", filter: [] }, `"filter": expected object, got []`],
  [[], `arguments: expected object, got []`],
])("arguments %j are refused with the field, what came and what was expected", async (values, sentence) => {
  const { result, errorCode } = await call(values);
  expect(result["isError"]).toBe(true);
  expect(errorCode).toBe("arguments_invalid");
  expect(result["structuredContent"]).toMatchObject({
    error: { code: "arguments_invalid", message: `Invalid arguments for pml_test. ${sentence}` },
  });
});

test("what a tool throws is an answer; what nobody expected has no advice for the command line", async () => {
  const known = await call({ text: "hi" }, () => {
    throw new PmlError("result_expired", "gone", { hint: "again" });
  });
  expect(known).toMatchObject({
    errorCode: "result_expired",
    result: { isError: true, structuredContent: { error: { id: "PML-E3012", message: "gone", hint: "again" } } },
  });
  const unknown = await call({ text: "hi" }, () => {
    throw new TypeError("oops");
  });
  expect(unknown.result["structuredContent"]).toEqual({
    error: { code: "internal", id: "PML-E9001", message: "Something failed inside of PML" },
  });
});

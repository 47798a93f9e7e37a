import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/support/folder.ts";
import { anthropicMessage, chatCompletion, startModelServer } from "../../../test/support/model-server.ts";
import { curationSchema } from "../../config/curation-schema.ts";
import { openModel } from "./open-model.ts";

const prompt = { system: "Name it.", user: "a program", maxTokens: 50 };
const { signal } = new AbortController();
const overloaded = { status: 429, headers: { "retry-after": "0" }, body: '{"type":"error"}' };

function open(settings: unknown): NonNullable<ReturnType<typeof openModel>> {
  const model = openModel(curationSchema.parse(settings));
  if (model === undefined) throw new Error("no model");
  return model;
}

function openAi(baseUrl: string, settings: Record<string, unknown> = {}): ReturnType<typeof open> {
  return open({ provider: { type: "openai", baseUrl }, ...settings });
}

test("without a provider there is no model, and nothing is sent", () => {
  expect(openModel(curationSchema.parse({}))).toBeUndefined();
});

test("a key is sent only over an encrypted or local connection", () => {
  const provider = { type: "openai", baseUrl: "http://models.example.com/v1" };
  expect(curationSchema.safeParse({ provider }).success).toBe(false);
});

test("Anthropic's messages, with the key of a file and the family's name", async () => {
  await using folder = await makeFolder();
  const file = join(folder.path, "key");
  writeFileSync(file, "sk-secret\n");
  await using server = await startModelServer(() => ({ body: anthropicMessage("fs:read_json") }));
  const provider = { type: "anthropic", apiKey: { file }, baseUrl: `${server.url}/` };
  expect(await open({ provider }).complete(prompt, signal)).toBe("fs:read_json");
  expect(await open({ provider, model: "sonnet" }).complete(prompt, signal)).toBe("fs:read_json");
  const [first, second] = server.seen;
  expect(first?.path).toBe("/v1/messages");
  expect(first?.headers).toMatchObject({ "x-api-key": "sk-secret", "anthropic-version": "2023-06-01" });
  expect(first?.body).toEqual({
    model: "claude-haiku-4-5",
    max_tokens: 50,
    system: "Name it.",
    messages: [{ role: "user", content: "a program" }],
  });
  expect(second?.body["model"]).toBe("claude-sonnet-4-5");
});

test("chat completions, without a key where none is configured", async () => {
  await using server = await startModelServer(() => ({ body: chatCompletion("db:count_orders") }));
  const model = openAi(`${server.url}/v1`, { model: "qwen3:4b" });
  expect(await model.complete(prompt, signal)).toBe("db:count_orders");
  expect(server.seen[0]?.path).toBe("/v1/chat/completions");
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
  expect(server.seen[0]?.body).toMatchObject({
    model: "qwen3:4b",
    messages: [{ role: "system" }, { role: "user", content: "a program" }],
  });
});

test("a retry waits for retry-after", async () => {
  await using server = await startModelServer((_request, count) =>
    count < 3 ? overloaded : { body: chatCompletion("util:third_time") },
  );
  expect(await openAi(server.url).complete(prompt, signal)).toBe("util:third_time");
});

test("retries are limited in number and time", async () => {
  await using server = await startModelServer(() => overloaded);
  await expect(openAi(server.url).complete(prompt, signal)).rejects.toMatchObject({ code: "model_failed" });
  expect(server.seen).toHaveLength(3);
  await using patient = await startModelServer(() => ({ ...overloaded, headers: { "retry-after": "3600" } }));
  await expect(openAi(patient.url).complete(prompt, signal)).rejects.toThrow("it answered 429");
  expect(patient.seen).toHaveLength(1);
});

test.each([
  ["an error", { status: 401, body: '{"error":{"message":"bad key"}}' }, "it answered 401"],
  ["no JSON", { body: "<html>" }, "its answer is not JSON"],
  ["JSON of another format", { body: '{"choices":[]}' }, "an answer of an unexpected format"],
  ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" }, "gave no name"],
])("%s is reported as such", async (_what, reply, text) => {
  await using server = await startModelServer(() => reply);
  await expect(openAi(server.url).complete(prompt, signal)).rejects.toThrow(text);
});

test("a timeout and a refused connection", async () => {
  await using server = await startModelServer(() => ({ body: "", hang: true }));
  const slow = openAi(server.url, { timeoutSeconds: 0.1 });
  await expect(slow.complete(prompt, signal)).rejects.toThrow("no answer within 0.1 s (curation.timeoutSeconds)");
  const nobody = openAi("http://127.0.0.1:1/v1");
  await expect(nobody.complete(prompt, signal)).rejects.toMatchObject({ code: "model_failed" });
});

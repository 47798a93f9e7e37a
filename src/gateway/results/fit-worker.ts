/** The thread that shortens long results: schemas and patterns of servers can only exhaust the limits of this thread. */
import { parentPort } from "node:worker_threads";
import type { JsonSchemaType } from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import type { FitAnswer, FitTask } from "./fit-messages.ts";
import { truncateResult } from "./truncate-result.ts";

function createCheck(schema: unknown): (value: unknown) => boolean {
  if (schema === undefined) return () => true;
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType);
    return (value) => validate(value).valid;
  } catch {
    return () => true; // a schema that cannot be compiled refuses nothing
  }
}

function answer({ result, outputSchema, maxBytes, checked }: FitTask): FitAnswer {
  const parsed = JSON.parse(result) as Parameters<typeof truncateResult>[0];
  const schema: unknown = outputSchema === undefined ? undefined : JSON.parse(outputSchema);
  const isValid = checked ? createCheck(schema) : () => false;
  return JSON.stringify(truncateResult(parsed, { maxBytes, outputSchema: schema, isValid }));
}

parentPort?.on("message", (task: FitTask) => {
  let text: FitAnswer;
  try {
    text = answer(task);
  } catch (error) {
    text = { reason: String(error) };
  }
  parentPort?.postMessage(text);
});
parentPort?.postMessage(undefined);

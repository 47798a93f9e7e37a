import { createHash } from "node:crypto";
import type { z } from "zod";
import { canonical } from "../../src/base/canonical.ts";

/** A tool of a server: a function of the server's state, which it may change. */
export interface WorldTool<State> {
  readonly name: string;
  readonly description: string;
  readonly effect: "read" | "write" | "destroy";
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly run: (state: State, input: unknown) => object;
}

interface ToolDefinition<State, Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly effect: WorldTool<State>["effect"];
  readonly input: Input;
  readonly output: Output;
  readonly run: (state: State, input: z.infer<Input>) => z.infer<Output>;
}

/** Lets a server declare its tools with the types of their schemas. */
export function toolsOf<State>() {
  return function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
    definition: ToolDefinition<State, Input, Output>,
  ): WorldTool<State> {
    const { input, run } = definition;
    return { ...definition, run: (state, given) => run(state, input.parse(given)) };
  };
}

/** A failure that the world answers with, like a number that does not exist. */
export class WorldError extends Error {
  override readonly name = "WorldError";
}

export function getEntry<Value>(entries: Readonly<Record<string, Value>>, kind: string, id: string): Value {
  const value = Object.hasOwn(entries, id) ? entries[id] : undefined;
  if (value === undefined) throw new WorldError(`There is no ${kind} ${id}`);
  return value;
}

/** Adds a thing under an id made of its content: calls made at the same time give the same ids in any order. */
export function addEntry<Value extends { readonly id: string }>(
  entries: Record<string, Value>,
  prefix: string,
  make: (id: string) => NoInfer<Value>,
): Value {
  const digest = createHash("sha256")
    .update(canonical(make("")))
    .digest("hex")
    .slice(0, 8);
  let id = `${prefix}-${digest}`;
  for (let copy = 2; Object.hasOwn(entries, id); copy += 1) id = `${prefix}-${digest}-${copy}`;
  return (entries[id] = make(id));
}

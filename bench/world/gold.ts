import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { GoldCall } from "../generalise/gold-task.ts";
import type { WorldState } from "./entities.ts";
import { callWorld, describeState } from "./world.ts";

/** The effects of a program on a world. */
export interface Outcome {
  readonly result: JsonValue;
  readonly calls: readonly GoldCall[];
  /** The state afterwards, as a text. */
  readonly state: string;
}

type Program = (mcp: unknown, args: JsonObject, console: unknown) => Promise<JsonValue | undefined>;
const AsyncFunction = async function () {}.constructor as new (...words: readonly string[]) => Program;
const silent = { log: () => {} };

/** Runs a program of ours in this process over a state, which it changes. */
export async function runHere(program: string, args: JsonObject, state: WorldState): Promise<Outcome> {
  const calls: GoldCall[] = [];
  // Async, so that a failure is a rejection.
  const call = async (server: string, tool: string, input: JsonObject): Promise<JsonValue> => {
    calls.push({ tool: `${server}:${tool}`, args: structuredClone(input) });
    return callWorld(state, server, tool, input);
  };
  const mcp = membersOf((server) =>
    membersOf(
      (tool) =>
        (input: JsonObject = {}) =>
          call(server, tool, input),
    ),
  );
  const result = await new AsyncFunction("mcp", "args", "console", program)(mcp, args, silent);
  return { result: result ?? null, calls, state: describeState(state) };
}

/** An object that has every member. */
function membersOf(make: (name: string) => unknown): object {
  return new Proxy({}, { get: (_target, name) => (typeof name === "string" ? make(name) : undefined) });
}

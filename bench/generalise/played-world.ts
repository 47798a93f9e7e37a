import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { McpServerEntry } from "../../src/config/schema.ts";
import type { Random } from "../../test/support/random.ts";
import type { Mode } from "../world/style.ts";

/** A value in the solution of a task, and where it goes. */
export interface ArgumentSite {
  /** As `server:tool`. */
  readonly tool: string;
  readonly argument: string;
  readonly value: JsonValue;
  /** The items of the value are passed one by one. */
  readonly isList: boolean;
}

/** The end of a task that was solved as intended. */
interface GoldEnd {
  /** The state of the world afterwards, as a text. */
  readonly state: string;
  /** The computed answer, where the task asks for one. */
  readonly result: JsonValue;
}

/** One step of a play: a task that comes up, with its solution. */
export interface PlayedTask {
  readonly id: string;
  /** Tasks of one behaviour are solved by one capability. */
  readonly behaviour: string;
  readonly intent: string;
  /** The values of the task, under names that a person would give them. */
  readonly values: JsonObject;
  readonly sites: readonly ArgumentSite[];
  readonly gold: GoldEnd;
  /** Writes the solution in a random style. */
  write(mode: Mode, random: Random): string;
}

/** Servers with tasks. State is reset and read beside the gateway. */
export interface PlayedWorld extends AsyncDisposable {
  readonly name: string;
  readonly servers: Readonly<Record<string, McpServerEntry>>;
  readonly tasks: readonly PlayedTask[];
  readonly modes: readonly Mode[];
  /** The share of reuse, in percent, that is the goal here. */
  readonly reuseGoal: number;
  reset(): Promise<void>;
  read(): Promise<string>;
}

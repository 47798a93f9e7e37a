import type { JsonObject } from "../../src/base/json.ts";

/** One call of the solution of a task. */
export interface GoldCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** A task of a world with its solution. */
export interface GoldTask {
  readonly intent: string;
  readonly calls: readonly GoldCall[];
}

const LONGEST_BLOCK = 4;

/** The sequence of tools with the names of their arguments; calls that are repeated in a row count once. */
export function behaviourOf(calls: readonly GoldCall[]): string {
  const steps: string[] = [];
  for (const { tool, args } of calls) {
    steps.push(`${tool}(${Object.keys(args).toSorted().join(",")})`);
    const repeated = [1, 2, 3, LONGEST_BLOCK].find(
      (size) => 2 * size <= steps.length && steps.slice(-size).join(" ") === steps.slice(-2 * size, -size).join(" "),
    );
    if (repeated !== undefined) steps.splice(-repeated);
  }
  return steps.join(" ");
}

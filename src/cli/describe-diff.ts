import type { VersionChanges } from "../contract/records.ts";
import type { Colors } from "./terminal.ts";

/** Summarises a diff in one line. */
export function summariseDiff({ code, tools, parameters, breaking }: VersionChanges): string {
  const lines = code.split("\n");
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  const words = [
    `+${count("+")} -${count("-")} lines`,
    ...tools.added.map((tool) => `+${tool}`),
    ...tools.removed.map((tool) => `-${tool}`),
    ...(parameters.length === 0 ? [] : [`${parameters.length} in parameters`]),
    ...(breaking ? ["BREAKING"] : []),
  ];
  return words.join(", ");
}

/** Describes a diff for people: breaking changes first, the text last. */
export function describeDiff(diff: VersionChanges, { red, green, dim }: Colors): string {
  const mark = (line: string): string =>
    line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line.startsWith("@@") ? dim(line) : line;
  const { structure, tools, parameters } = diff;
  const parts = [
    parameters.map(({ breaking, explanation }) => (breaking ? red(`! ${explanation}`) : `  ${explanation}`)),
    changes("tool", tools),
    changes("step", structure.nodes),
    structure.changed.map((label) => `~ step ${label}: other arguments`),
    changes("link", structure.edges),
    diff.code === "" ? ["The source is the same"] : diff.code.split("\n").map(mark),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function changes(what: string, { added, removed }: VersionChanges["tools"]): string[] {
  return [...removed.map((each) => `- ${what} ${each}`), ...added.map((each) => `+ ${what} ${each}`)];
}

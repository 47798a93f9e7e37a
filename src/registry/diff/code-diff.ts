import { diffSequences, type EditStep } from "./sequence-diff.ts";

const CONTEXT_LINES = 3;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
  /** Numbers of lines on either side before this one. */
  readonly before: number;
  readonly after: number;
}

/** Formats two texts as a unified diff without file names; empty if they are equal. */
export function diffCode(before: string, after: string): string {
  const lines = toLines(before.split("\n"), after.split("\n"));
  const changed = lines.flatMap(({ mark }, index) => (mark === " " ? [] : [index]));
  return groupHunks(changed, lines.length)
    .map(([from, to]) => formatHunk(lines.slice(from, to)))
    .join("\n");
}

function toLines(before: readonly string[], after: readonly string[]): Line[] {
  let [seenBefore, seenAfter] = [0, 0];
  return diffSequences(before, after).map((step) => {
    const line = { ...read(step, before, after), before: seenBefore, after: seenAfter };
    if (step.kind !== "added") seenBefore += 1;
    if (step.kind !== "removed") seenAfter += 1;
    return line;
  });
}

function read(step: EditStep, before: readonly string[], after: readonly string[]): Pick<Line, "mark" | "text"> {
  switch (step.kind) {
    case "kept":
      return { mark: " ", text: before[step.before] ?? "" };
    case "removed":
      return { mark: "-", text: before[step.before] ?? "" };
    case "added":
    default:
      return { mark: "+", text: after[step.after] ?? "" };
  }
}

/** Ranges of lines around the changes; touching ranges are merged. */
function groupHunks(changed: readonly number[], total: number): [from: number, to: number][] {
  const hunks: [number, number][] = [];
  for (const index of changed) {
    const [from, to] = [Math.max(0, index - CONTEXT_LINES), Math.min(total, index + CONTEXT_LINES + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

function range(seen: number, count: number): string {
  return `${count === 0 ? seen : seen + 1},${count}`;
}

function formatHunk(lines: readonly Line[]): string {
  const [first] = lines;
  const old = lines.filter(({ mark }) => mark !== "+").length;
  const current = lines.filter(({ mark }) => mark !== "-").length;
  const head = `@@ -${range(first?.before ?? 0, old)} +${range(first?.after ?? 0, current)} @@`;
  return [head, ...lines.map(({ mark, text }) => mark + text)].join("\n");
}

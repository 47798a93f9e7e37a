import { type BenchFigure, type Goal, meetsGoal } from "./benchmark.ts";

/** Formats one line per figure, one column per product. */
export function formatTable(figures: readonly BenchFigure[], columns: readonly string[]): string {
  const lines = Map.groupBy(figures, ({ row, unit }) => `${row}\n${unit}`);
  const cells = [...lines.values()].map((line) => formatLine(line, columns));
  return alignColumns([["", "unit", ...columns, "goal"], ...cells]);
}

function formatLine(line: readonly BenchFigure[], columns: readonly string[]): string[] {
  const [first] = line;
  const goal = line.find((figure) => figure.goal !== undefined)?.goal;
  const values = columns.map((column) => {
    const figure = line.find((candidate) => candidate.column === column);
    return figure === undefined ? "–" : formatCell(figure);
  });
  return [first?.row ?? "", first?.unit ?? "", ...values, goal === undefined ? "" : formatGoal(goal)];
}

function formatCell({ value, goal }: BenchFigure): string {
  // A cell without a goal reserves the space of the mark, so that numbers are aligned.
  const mark = goal === undefined ? " " : meetsGoal(value, goal) ? "✓" : "✗";
  return `${formatNumber(value)} ${mark}`;
}

export function formatGoal(goal: Goal): string {
  return "atLeast" in goal ? `≥ ${formatNumber(goal.atLeast)}` : `≤ ${formatNumber(goal.atMost)}`;
}

const EXACT_BELOW = 20;

export function formatNumber(value: number): string {
  const digits = Math.abs(value) < EXACT_BELOW ? 2 : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** Aligns the first two columns and the last to the left, the numbers to the right. */
function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]): string =>
    line
      .map((cell, column) => {
        const isText = column < 2 || column === line.length - 1;
        return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
      })
      .join("  ")
      .trimEnd();
  const [heading = [], ...rest] = lines;
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [format(heading), rule, ...rest.map(format)].join("\n");
}

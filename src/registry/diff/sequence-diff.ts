export type EditStep =
  | { readonly kind: "kept"; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly before: number }
  | { readonly kind: "added"; readonly after: number };

/** With more differences the shortest edit script is not worth its memory; the rest counts as replaced. */
const MAX_DIFFERENCES = 800;

/** Computes an edit script with as few removed and added steps as possible. */
export function diffSequences(before: readonly string[], after: readonly string[]): EditStep[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [
    ...before.slice(0, start).map((_, index) => kept(index, index)),
    ...middle.map((step) => shift(step, start)),
    ...Array.from({ length: end }, (_, index) => kept(before.length - end + index, after.length - end + index)),
  ];
}

function kept(before: number, after: number): EditStep {
  return { kind: "kept", before, after };
}

function shift(step: EditStep, by: number): EditStep {
  switch (step.kind) {
    case "kept":
      return kept(step.before + by, step.after + by);
    case "removed":
      return { kind: "removed", before: step.before + by };
    case "added":
    default:
      return { kind: "added", after: step.after + by };
  }
}

function diffMiddle(before: readonly string[], after: readonly string[]): EditStep[] {
  const trace = findFurthest(before, after);
  return trace === undefined ? replaceAll(before.length, after.length) : walkBack(trace, before.length, after.length);
}

function replaceAll(before: number, after: number): EditStep[] {
  return [
    ...Array.from({ length: before }, (_, index): EditStep => ({ kind: "removed", before: index })),
    ...Array.from({ length: after }, (_, index): EditStep => ({ kind: "added", after: index })),
  ];
}

/** Furthest point per diagonal and number of differences (Myers); undefined if there are too many. */
function findFurthest(before: readonly string[], after: readonly string[]): Map<number, number>[] | undefined {
  const most = Math.min(before.length + after.length, MAX_DIFFERENCES);
  const trace: Map<number, number>[] = [];
  let reached = new Map([[1, 0]]);
  for (let differences = 0; differences <= most; differences += 1) {
    const next = new Map<number, number>();
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let x = comesFromAbove(reached, diagonal, differences)
        ? (reached.get(diagonal + 1) ?? 0)
        : (reached.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return [...trace, reached, next];
    }
    trace.push(reached);
    reached = next;
  }
  return undefined;
}

function comesFromAbove(reached: ReadonlyMap<number, number>, diagonal: number, differences: number): boolean {
  if (diagonal === -differences) return true;
  return diagonal !== differences && (reached.get(diagonal - 1) ?? 0) < (reached.get(diagonal + 1) ?? 0);
}

const NOWHERE: ReadonlyMap<number, number> = new Map();

function walkBack(trace: readonly ReadonlyMap<number, number>[], before: number, after: number): EditStep[] {
  const steps: EditStep[] = [];
  let [x, y] = [before, after];
  for (let differences = trace.length - 2; differences >= 0; differences -= 1) {
    const reached = trace[differences] ?? NOWHERE;
    const diagonal = x - y;
    const above = comesFromAbove(reached, diagonal, differences);
    const from = above ? diagonal + 1 : diagonal - 1;
    const fromX = reached.get(from) ?? 0;
    const fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      [x, y] = [x - 1, y - 1];
      steps.push(kept(x, y));
    }
    if (differences === 0) break;
    steps.push(above ? { kind: "added", after: fromY } : { kind: "removed", before: fromX });
    [x, y] = [fromX, fromY];
  }
  return steps.toReversed();
}

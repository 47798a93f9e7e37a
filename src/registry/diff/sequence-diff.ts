import { type ArrayChange, diffArrays } from "diff";

export type EditStep =
  | { readonly kind: "kept"; readonly before: number; readonly after: number }
  | { readonly kind: "removed"; readonly before: number }
  | { readonly kind: "added"; readonly after: number };

/** With more differences the shortest edit script is not worth its time; all between common ends counts as replaced. */
const MAX_DIFFERENCES = 800;

/** Computes an edit script with as few removed and added steps as possible. */
export function diffSequences(before: readonly string[], after: readonly string[]): EditStep[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: MAX_DIFFERENCES });
  return toSteps(changes ?? replaceMiddle(before, after));
}

type Change = Pick<ArrayChange<string>, "added" | "removed" | "count">;

function toSteps(changes: readonly Change[]): EditStep[] {
  let [before, after] = [0, 0];
  return changes.flatMap(({ added, removed, count }) =>
    Array.from({ length: count }, (): EditStep => {
      if (added) return { kind: "added", after: after++ };
      if (removed) return { kind: "removed", before: before++ };
      return { kind: "kept", before: before++, after: after++ };
    }),
  );
}

function replaceMiddle(before: readonly string[], after: readonly string[]): Change[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    { added: false, removed: false, count: start },
    { added: false, removed: true, count: before.length - start - end },
    { added: true, removed: false, count: after.length - start - end },
    { added: false, removed: false, count: end },
  ];
}

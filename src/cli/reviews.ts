import { toVisible } from "../base/visible.ts";
import type { ReviewRow } from "../contract/servers.ts";

const SHORT_HASH = 12;

export function shortHash({ hash }: ReviewRow): string {
  return hash.slice(0, SHORT_HASH);
}

/** Describes the change: removed lines with a minus, added ones with a plus. */
export function describeReview(review: ReviewRow): string {
  const { tool, state, seenAt, lowered, differences } = review;
  const less = lowered === undefined ? [] : [`  would count as "${lowered.after}" instead of "${lowered.before}"`];
  const lines = differences.flatMap(({ path, before, after }) => [
    `  ${makeVisible(path)}`,
    ...mark("-", before),
    ...mark("+", after),
  ]);
  return [
    `${makeVisible(tool).replaceAll("\n", String.raw`\u{a}`)}  ${state}, definition ${shortHash(review)}, seen ${seenAt}`,
    ...less,
    ...lines,
  ].join("\n");
}

function mark(sign: string, text: string | undefined): string[] {
  return text === undefined ? [] : text.split("\n").map((line) => `    ${sign} ${makeVisible(line)}`);
}

/** Shows characters by which a definition could hide something from its reviewer: terminal commands, invisible text. */
export function makeVisible(text: string): string {
  return toVisible(text).replaceAll("\t", String.raw`\u{9}`);
}

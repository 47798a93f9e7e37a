/** As the daemon tells it at /api/reviews. */
export interface Review {
  readonly tool: string;
  readonly state: "open" | "refused";
  readonly hash: string;
  readonly seenAt: string;
  readonly differences: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
}

const SHORT_HASH = 12;

export function shortHash({ hash }: Review): string {
  return hash.slice(0, SHORT_HASH);
}

/** The change as a person reads it: what went with a minus, what came with a plus. */
export function describeReview(review: Review): string {
  const { tool, state, seenAt, differences } = review;
  const lines = differences.flatMap(({ path, before, after }) => [
    `  ${makeVisible(path)}`,
    ...mark("-", before),
    ...mark("+", after),
  ]);
  return [`${tool}  ${state}, definition ${shortHash(review)}, seen ${seenAt}`, ...lines].join("\n");
}

function mark(sign: string, text: string | undefined): string[] {
  return text === undefined ? [] : text.split("\n").map((line) => `    ${sign} ${makeVisible(line)}`);
}

/** Control characters, and those that take no room or turn text around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A definition may hide something from whoever reviews it: terminal commands, or text that is not shown. */
export function makeVisible(text: string): string {
  return text.replace(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
}

/** Brackets and prefixes inside each other; the parser stands about 4,000. */
export const MAX_NESTING = 200;
/** What each of them weighs; whole numbers, because others are objects of their own. */
export const NEST = 16;
/** Links of a chain (`a + b + c`, `a.b().c()`) deepen the tree too, but cost far less. */
export const LINK = 1;
/** `<` opens type arguments or compares. */
export const ANGLE = 4;

/** Tokens times length of a line: the parser copies the line for each error in it, and there can be one at each token. */
export const MAX_LINE = 4e8;
/** Errors that only a full check finds are the costly ones. */
export const MAX_CHECKED_LINE = 4e7;

export interface NestingProblem {
  readonly offset: number;
  readonly reason: "too_deep" | "long_line" | "stray_brace" | "ambiguous_slash" | "html_comment";
}

export interface NestingReport {
  readonly problem: NestingProblem | undefined;
  /** The most tokens times characters of a line. */
  readonly longestLine: number;
}

export interface Level {
  readonly closer: string;
  /** Closes the head of `if`, `for`, `while`: a statement follows, not an operator. */
  readonly head: boolean;
  /** What has been opened without brackets since the last boundary at this level. */
  pending: number;
  /** The part of it that a comma does not end: `if (a) for (;;) label: …`. */
  held: number;
  angles: number;
  elses: number;
}

export function createLevel(closer: string, head: boolean): Level {
  return { closer, head, pending: 0, held: 0, angles: 0, elses: 0 };
}

export function resetLevel(level: Level): void {
  level.pending = 0;
  level.held = 0;
  level.angles = 0;
  level.elses = 0;
}

export function weigh({ pending, angles, elses }: Level): number {
  return pending + angles + elses;
}

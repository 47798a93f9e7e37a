/** Limit for nested brackets and prefixes; the parser survives about 4,000. */
export const MAX_NESTING = 200;
/** Weight of one bracket or prefix. Weights are integers: V8 allocates other numbers on the heap. */
export const NEST = 16;
/** Weight of a link of a chain (`a + b + c`, `a.b().c()`), which deepens the tree but costs far less. */
export const LINK = 1;
/** Weight of `<`, which opens type arguments or compares. */
export const ANGLE = 4;

/**
 * Limit for tokens times characters of a line: the parser copies the line into each error, and each token can be one.
 */
export const MAX_LINE = 4e8;
/** Tighter limit for the full check, whose errors cost more. */
export const MAX_CHECKED_LINE = 4e7;
/** Longest program that is checked in full: for each error the parser searches the text from its beginning. */
export const MAX_CHECKED_LENGTH = 64 * 1024;

export interface NestingProblem {
  readonly offset: number;
  readonly reason: "too_deep" | "long_line" | "stray_brace" | "ambiguous_slash" | "html_comment";
}

export interface NestingReport {
  readonly problem: NestingProblem | undefined;
  /** The largest product of tokens and characters of one line. */
  readonly longestLine: number;
}

export interface NestingLevel {
  readonly closer: string;
  /** Closes the head of `if`, `for`, `while`: a statement follows, not an operator. */
  readonly head: boolean;
  /** Weight opened without brackets since the last boundary at this level. */
  pending: number;
  /** The part of `pending` that a comma does not end: `if (a) for (;;) label: …`. */
  held: number;
  angles: number;
  elses: number;
}

export function createLevel(closer: string, head: boolean): NestingLevel {
  return { closer, head, pending: 0, held: 0, angles: 0, elses: 0 };
}

export function resetLevel(level: NestingLevel): void {
  level.pending = 0;
  level.held = 0;
  level.angles = 0;
  level.elses = 0;
}

export function weigh({ pending, angles, elses }: NestingLevel): number {
  return pending + angles + elses;
}

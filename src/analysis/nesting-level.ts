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

export function weigh({ pending, angles, elses }: Level): number {
  return pending + angles + elses;
}

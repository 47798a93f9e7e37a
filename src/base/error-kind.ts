/** Exit codes of the command line. Scripts rely on them: a number never changes its meaning. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  needsPerson: 4,
  toolError: 5,
  refused: 6,
  unreachable: 7,
  checkFailed: 8,
  interrupted: 130,
} as const;

export interface ErrorKind {
  readonly id: `PML-E${number}`;
  readonly exit: number;
  /** One sentence for the reference page. */
  readonly meaning: string;
}

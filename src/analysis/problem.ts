/** The reason a program cannot run; the offset refers to the wrapped text. */
export interface ProgramProblem {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

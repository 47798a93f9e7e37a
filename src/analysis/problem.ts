/** Why a program cannot be run; offsets are those of the wrapped text. */
export interface Problem {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number: a cell of the printed table, an entry of the JSON file. */
export interface Figure {
  readonly row: string;
  readonly unit: string;
  readonly column: string;
  readonly value: number;
  readonly goal?: Goal;
}

/** What a benchmark is given to report with. */
export interface Session {
  record(figure: Figure): void;
  /** A sentence printed below the table, for what is not a number. */
  note(text: string): void;
  /** Of what is measured, where a benchmark can measure anybody's: the folder given with --data. */
  readonly data: string | undefined;
  /** Results in a form of their own, for --json, instead of the list of figures. */
  publish(document: unknown): void;
  /** Tells whoever waits what is being done. */
  progress(text: string): void;
  /** Aborted when the user interrupts: long loops look at it, so that what was started is also ended. */
  readonly signal: AbortSignal;
}

export interface Benchmark {
  readonly title: string;
  /** The things compared, in the order of the table's columns. */
  readonly columns: readonly string[];
  run(session: Session): Promise<void>;
}

export function meetsGoal(value: number, goal: Goal): boolean {
  return "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
}

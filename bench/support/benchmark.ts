export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number: a cell of the printed table, an entry of the JSON file. */
export interface BenchFigure {
  readonly row: string;
  readonly unit: string;
  readonly column: string;
  readonly value: number;
  readonly goal?: Goal;
}

/** A benchmark's interface for reporting. */
export interface BenchSession {
  record(figure: BenchFigure): void;
  /** Adds a sentence below the table, for facts that are not numbers. */
  note(text: string): void;
  /** The folder given with --data, for benchmarks on external data. */
  readonly data: string | undefined;
  /** The folder given with --worlds, with checkouts of public task sets. */
  readonly worlds: string | undefined;
  /** Replaces the list of figures in --json by a document of another form. */
  publish(document: unknown): void;
  /** Prints the current step. */
  progress(text: string): void;
  /** Aborted when the user interrupts; long loops must check it, so that child processes are ended. */
  readonly signal: AbortSignal;
}

export interface Benchmark {
  readonly title: string;
  /** The compared products, in the order of the table's columns. */
  readonly columns: readonly string[];
  run(session: BenchSession): Promise<void>;
}

export function meetsGoal(value: number, goal: Goal): boolean {
  return "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
}

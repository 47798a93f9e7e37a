/** One way of mistreating PML, and the promise that has to survive it. */
export interface TortureCase {
  readonly name: string;
  /** What must hold, in one line. */
  readonly promise: string;
  readonly defaultRounds: number;
  /** What of it can be run alone. */
  readonly parts?: readonly string[];
  run(options: CaseOptions): Promise<Outcome>;
}

export interface CaseOptions {
  readonly rounds: number;
  /** Every random moment follows from it, so that a run can be repeated. */
  readonly seed: number;
  /** Also run what is expected to fail, to show that the harness can see a failure. */
  readonly control: boolean;
  /** Only these parts; empty for all of it. */
  readonly only: readonly string[];
  readonly say: (line: string) => void;
}

export type Cell = string | number;

export interface Outcome {
  readonly holds: boolean;
  /** What did not hold, one line each. */
  readonly problems: readonly string[];
  readonly table: readonly Readonly<Record<string, Cell>>[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** For a machine on which a case cannot be run: that is a failure, never a silent pass. */
export function cannotRun(reason: string): Outcome {
  return { holds: false, problems: [`not run: ${reason}`], table: [{ result: "not run", reason }] };
}

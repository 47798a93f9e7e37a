/** One kind of fault, and the promise that has to survive it. */
export interface TortureCase {
  readonly name: string;
  /** The invariant, in one line. */
  readonly promise: string;
  readonly defaultRounds: number;
  /** Parts that can be run alone. */
  readonly parts?: readonly string[];
  run(options: CaseOptions): Promise<CaseOutcome>;
}

export interface CaseOptions {
  readonly rounds: number;
  /** Determines every random moment, so that a run can be repeated. */
  readonly seed: number;
  /** Also runs the control, which must fail, to prove that the harness detects a failure. */
  readonly control: boolean;
  /** Limits the run to these parts; empty for all of it. */
  readonly only: readonly string[];
  readonly say: (line: string) => void;
}

export type Cell = string | number;

export interface CaseOutcome {
  readonly holds: boolean;
  /** Violations, one line each. */
  readonly problems: readonly string[];
  readonly table: readonly Readonly<Record<string, Cell>>[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The outcome on a machine that cannot run a case: a failure, never a silent pass. */
export function cannotRun(reason: string): CaseOutcome {
  return { holds: false, problems: [`not run: ${reason}`], table: [{ result: "not run", reason }] };
}

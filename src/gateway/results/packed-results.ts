/** The task id under which a run's short results are stored together; no task has this name. */
export const PACKED_TASK = "*";

/** A longer result has a row of its own. */
export const LONGEST_PACKED = 4_096;

export interface PackedResult {
  readonly tool: string;
  /** JSON. */
  readonly text: string;
}

export function findPacked(bytes: Buffer, task: string): PackedResult | undefined {
  const packed = JSON.parse(bytes.toString("utf8")) as Readonly<Record<string, PackedResult>>;
  return Object.hasOwn(packed, task) ? packed[task] : undefined;
}

/** Under which task the short results of a run are kept together; no task has this name. */
export const PACKED_TASK = "*";

/** Longer ones have a row of their own. */
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

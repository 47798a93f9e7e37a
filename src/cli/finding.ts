import { PmlError } from "../base/errors.ts";

/** The finding of one check of `pml doctor`. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failure";
  readonly value: string;
  /** Further lines. */
  readonly details?: readonly string[];
  readonly fix?: string;
  /** The repair that --fix makes: safe, and possible to undo. */
  readonly repair?: () => void;
}

export function fromError(check: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const fix = error instanceof PmlError ? error.hint : undefined;
  return { check, state: "failure", value: message, ...(fix === undefined ? {} : { fix }) };
}

import { PmlError } from "../base/errors.ts";

/** What one check of `pml doctor` found. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failure";
  readonly value: string;
  /** More of it, a line each. */
  readonly details?: readonly string[];
  readonly fix?: string;
  /** What --fix does about it; only what is safe and can be undone. */
  readonly repair?: () => void;
}

export function fromError(check: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const fix = error instanceof PmlError ? error.hint : undefined;
  return { check, state: "failure", value: message, ...(fix === undefined ? {} : { fix }) };
}

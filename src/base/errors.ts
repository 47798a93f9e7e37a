import { ERRORS } from "./error-kinds.ts";
import { stripInvisible } from "./visible.ts";

export { ERRORS, EXIT } from "./error-kinds.ts";

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** Next step for the user, a command if there is one. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one error class: a stable code, a message with its values, and a hint with the next step. */
export class PmlError extends Error {
  override readonly name = "PmlError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { hint, details, cause }: ErrorDetails = {}) {
    // Messages quote names and texts of others; nothing in them may hide.
    super(stripInvisible(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint === undefined ? undefined : stripInvisible(hint);
    this.details = details ?? {};
  }
}

/** The form in which an error crosses a process boundary: HTTP answers, `--json`, worker messages. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly id: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function toErrorReport(error: unknown): ErrorReport {
  const known = error instanceof PmlError ? error : internalError(error);
  return {
    code: known.code,
    id: ERRORS[known.code].id,
    message: known.message,
    ...(known.hint === undefined ? {} : { hint: known.hint }),
    ...(Object.keys(known.details).length === 0 ? {} : { details: known.details }),
  };
}

/**
 * Hides the text of an unexpected error from a caller: it may come from the database or name paths. The log has it. A
 * PmlError is meant for callers and stays.
 */
export function concealed(error: unknown): PmlError {
  if (error instanceof PmlError) return error;
  if (isDataException(error)) {
    const hint = "Look for zero characters, half characters and malformed ids";
    return new PmlError("usage", "A value of the request cannot be stored or compared", { hint, cause: error });
  }
  return new PmlError("internal", "Something failed inside of PML", {
    hint: "The gateway's log says what: pml logs --level error",
    cause: error,
  });
}

/** Conceals errors of the database only, where other errors are meant for the caller. */
export function withoutDatabaseText(error: unknown): unknown {
  return findSqlState(error) === undefined ? error : concealed(error);
}

/** Class 22 of SQLSTATE: the database was given a value that its type does not have, such as text with a zero. */
function isDataException(error: unknown): boolean {
  return findSqlState(error)?.startsWith("22") === true;
}

function findSqlState(error: unknown): string | undefined {
  const isOfDatabase = error instanceof Error && "severity" in error && "code" in error;
  return isOfDatabase ? String(error.code) : undefined;
}

/** A report as another process sent it, which may be of a version with other codes. */
type ReceivedReport = Omit<ErrorReport, "code" | "id"> & { readonly code: string };

export function fromErrorReport(report: ReceivedReport): PmlError {
  const code = isErrorCode(report.code) ? report.code : "internal";
  return new PmlError(code, report.message, {
    ...(report.hint === undefined ? {} : { hint: report.hint }),
    ...(report.details === undefined ? {} : { details: report.details }),
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return code in ERRORS;
}

function internalError(error: unknown): PmlError {
  const message = error instanceof Error ? error.message : String(error);
  return new PmlError("internal", message, {
    hint: "Run the command again with PML_DEBUG=1 to see where it happened.",
    cause: error,
  });
}

import { ERRORS } from "./error-kinds.ts";

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
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
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

/** Exit codes of the command line. Scripts rely on them: a number never changes its meaning. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  needsPerson: 4,
  toolError: 5,
  refused: 6,
  unreachable: 7,
  checkFailed: 8,
  interrupted: 130,
} as const;

interface ErrorKind {
  readonly id: `PML-E${number}`;
  readonly exit: number;
  /** One sentence for the reference page. */
  readonly meaning: string;
}

/** Every error a user can meet. The reference page is generated from this table. */
export const ERRORS = {
  config_not_found: {
    id: "PML-E1001",
    exit: EXIT.failed,
    meaning: "The configuration file that was asked for does not exist or cannot be read.",
  },
  config_syntax: {
    id: "PML-E1002",
    exit: EXIT.failed,
    meaning: "The configuration file is not valid JSON (comments and trailing commas are fine).",
  },
  config_invalid: {
    id: "PML-E1003",
    exit: EXIT.failed,
    meaning: "A configuration value is of the wrong kind, or a key is not known.",
  },
  store_busy: {
    id: "PML-E2001",
    exit: EXIT.failed,
    meaning: "Another process owns the data directory. Only one may open the embedded database.",
  },
  store_unusable: {
    id: "PML-E2002",
    exit: EXIT.failed,
    meaning: "The data directory cannot be created, read or written.",
  },
  engine_mismatch: {
    id: "PML-E2003",
    exit: EXIT.failed,
    meaning: "The data directory was written by another major version of the database engine.",
  },
  store_not_durable: {
    id: "PML-E2004",
    exit: EXIT.failed,
    meaning: "The start-up self-test found that a commit does not reach the disk.",
  },
  schema_newer: {
    id: "PML-E2005",
    exit: EXIT.failed,
    meaning: "The database was migrated by a newer PML than this one.",
  },
  disk_full: {
    id: "PML-E2006",
    exit: EXIT.failed,
    meaning: "There is no space left for the data directory.",
  },
  database_unreachable: {
    id: "PML-E2007",
    exit: EXIT.unreachable,
    meaning: "The PostgreSQL server does not answer.",
  },
  database_refused: {
    id: "PML-E2008",
    exit: EXIT.unreachable,
    meaning: "The PostgreSQL server answered, but does not let this user in.",
  },
  database_unsupported: {
    id: "PML-E2009",
    exit: EXIT.failed,
    meaning: "The PostgreSQL server is older than the oldest supported version.",
  },
  export_invalid: {
    id: "PML-E2010",
    exit: EXIT.failed,
    meaning: "An export file is truncated, altered, or not an export of PML.",
  },
  import_conflict: {
    id: "PML-E2011",
    exit: EXIT.failed,
    meaning: "A row to be imported contradicts one that is already there.",
  },
  tool_not_found: {
    id: "PML-E3001",
    exit: EXIT.notFound,
    meaning: "No tool has that name. `pml tools` lists them.",
  },
  server_not_found: {
    id: "PML-E3002",
    exit: EXIT.notFound,
    meaning: "No MCP server has that name in the configuration.",
  },
  daemon_unreachable: {
    id: "PML-E4001",
    exit: EXIT.unreachable,
    meaning: "No daemon runs for this PML_HOME, or it does not answer.",
  },
  daemon_start_failed: {
    id: "PML-E4002",
    exit: EXIT.unreachable,
    meaning: "The daemon was started in the background but did not become ready.",
  },
  port_taken: {
    id: "PML-E4003",
    exit: EXIT.failed,
    meaning: "Another process listens on the port that was asked for.",
  },
  request_refused: {
    id: "PML-E4004",
    exit: EXIT.refused,
    meaning: "An HTTP request had no valid token, a foreign Host or Origin, or was too large.",
  },
  listen_refused: {
    id: "PML-E4005",
    exit: EXIT.failed,
    meaning: "PML was to listen on an address that other machines can reach, and `auth` is not configured.",
  },
  usage: {
    id: "PML-E5001",
    exit: EXIT.usage,
    meaning: "A command was called with unknown or missing words.",
  },
  file_unusable: {
    id: "PML-E5002",
    exit: EXIT.failed,
    meaning: "A file named on the command line cannot be read or written.",
  },
  client_not_found: {
    id: "PML-E5003",
    exit: EXIT.notFound,
    meaning: "The MCP client is not set up on this machine, or has none of what was asked for.",
  },
  client_config_unusable: {
    id: "PML-E5004",
    exit: EXIT.failed,
    meaning: "The configuration of an MCP client cannot be read, or not changed without touching more than one entry.",
  },
  internal: {
    id: "PML-E9001",
    exit: EXIT.failed,
    meaning: "Something went wrong that PML did not expect. Please report it.",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** What to do next, as exact as possible: a command where there is one. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one error class: a stable code, a message with the values in it, and what to do next. */
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

export function fromErrorReport(report: ErrorReport): PmlError {
  const code = report.code in ERRORS ? report.code : "internal";
  return new PmlError(code, report.message, {
    ...(report.hint === undefined ? {} : { hint: report.hint }),
    ...(report.details === undefined ? {} : { details: report.details }),
  });
}

function internalError(error: unknown): PmlError {
  const message = error instanceof Error ? error.message : String(error);
  return new PmlError("internal", message, {
    hint: "Run the command again with PML_DEBUG=1 to see where it happened.",
    cause: error,
  });
}

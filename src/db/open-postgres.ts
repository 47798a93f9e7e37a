import pg from "pg";
import { PmlError } from "../base/errors.ts";
import type { DatabaseClient } from "./client.ts";
import type { CleanText } from "./clean-values.ts";
import { connectionDefaults, createStatements } from "./pool-client.ts";
import { listenWithReconnect } from "./postgres-listener.ts";

const OLDEST_SUPPORTED_MAJOR = 15;
const CONNECT_TIMEOUT_MS = 10_000;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly clean?: CleanText;
}

export async function openPostgres({
  url,
  poolSize,
  clean = (text) => text,
}: PostgresOptions): Promise<DatabaseClient> {
  const connection = { ...connectionDefaults, ...parseUrl(url), connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const pool = new pg.Pool({ ...connection, max: poolSize });
  // The pool replaces a broken idle connection; without a listener the error would end the process.
  pool.on("error", () => undefined);
  try {
    await checkServer(pool, url);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    engine: "postgres",
    lost: new Promise(() => undefined), // a server may go and come back; each query then reports it
    ...createStatements(pool, clean),
    listen: (channel, handlers) => listenWithReconnect(connection, channel, handlers),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** Formats the URL without its password, for messages, logs and status. */
export function describeUrl(url: string): string {
  try {
    const { username, host, pathname } = new URL(url);
    return `postgres://${username ? `${username}@` : ""}${host}${pathname}`;
  } catch {
    return "the configured PostgreSQL URL";
  }
}

function parseUrl(url: string): pg.ClientConfig {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new PmlError("config_invalid", "The database URL must begin with postgres:// or postgresql://", {
      hint: "For example: pml serve --pg postgres://user:password@localhost:5432/pml",
    });
  }
  return { connectionString: url };
}

async function checkServer(pool: pg.Pool, url: string): Promise<void> {
  let version: number;
  try {
    const { rows } = await pool.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    version = rows[0]?.version ?? 0;
  } catch (cause) {
    throw connectError(url, cause);
  }
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_SUPPORTED_MAJOR) return;
  throw new PmlError(
    "database_unsupported",
    `${describeUrl(url)} runs PostgreSQL ${major}; PML needs ${OLDEST_SUPPORTED_MAJOR} or newer`,
    {
      hint: "Upgrade the server, or use the embedded database: pml serve (without DATABASE_URL and --pg)",
    },
  );
}

const WRONG_PASSWORD = "28P01";
const NOT_ALLOWED = "28000";
const NO_DATABASE = "3D000";

function connectError(url: string, cause: unknown): PmlError {
  const where = describeUrl(url);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = describeCause(cause);
  if (code === NO_DATABASE) {
    const name = new URL(url).pathname.slice(1);
    return new PmlError("database_refused", `${where}: there is no database "${name}" on that server`, {
      hint: `Create it: createdb ${name}`,
      cause,
    });
  }
  if (code === WRONG_PASSWORD || code === NOT_ALLOWED || reason.includes("password must be a string")) {
    return new PmlError("database_refused", `${where} does not let this user in: ${reason}`, {
      hint: "Check user and password in DATABASE_URL (or --pg), then try it with: psql \"$DATABASE_URL\" -c 'select 1'",
      cause,
    });
  }
  return new PmlError("database_unreachable", `${where} does not answer: ${reason}`, {
    hint: 'Check host and port in DATABASE_URL (or --pg) and that the server runs: pg_isready -d "$DATABASE_URL"',
    cause,
  });
}

/** Trying several addresses of one host gives an AggregateError with an empty message. */
function describeCause(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(describeCause).join("; ");
  return cause instanceof Error ? cause.message : String(cause);
}

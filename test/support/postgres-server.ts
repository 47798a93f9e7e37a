/** A throw-away PostgreSQL cluster on a free loopback port. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";

export interface PostgresServer extends AsyncDisposable {
  /** Returns the URL of a database on it; `postgres` always exists. */
  url(database: string): string;
  readonly port: number;
  /** Closes every connection at once, as a restart of the server would. */
  restart(): void;
}

const PASSWORD = "only-for-tests";

export async function startPostgres(): Promise<PostgresServer> {
  const binaries = findPostgresBinaries();
  const folder = mkdtempSync(join(tmpdir(), "pml-postgres-"));
  const user = runAs(folder);
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  const port = await freePort();
  const run = (program: string, ...args: string[]): void => {
    execFileSync(join(binaries, program), args, {
      ...user,
      cwd: folder,
      stdio: "pipe",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    });
  };
  execFileSync("sh", ["-c", `umask 077; printf %s ${PASSWORD} > ${passwordFile}`], { ...user });
  run("initdb", "-D", data, "-U", "pml", "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8", "--locale=C");
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200`;
  const start = (): void =>
    run("pg_ctl", "start", "-D", data, "-w", "-t", "60", "-l", join(folder, "log"), "-o", options);
  const stop = (): void => run("pg_ctl", "stop", "-D", data, "-m", "immediate", "-w");
  start();
  return {
    port,
    url: (database) => `postgres://pml:${PASSWORD}@127.0.0.1:${port}/${database}`,
    restart() {
      stop();
      start();
    },
    async [Symbol.asyncDispose]() {
      stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server refuses to run as root, so root starts it as an ordinary user. */
function runAs(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const name = ["postgres", "nobody"].find((candidate) => {
    try {
      return id("-u", candidate) > 0;
    } catch {
      return false; // no such user
    }
  });
  if (name === undefined)
    throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as");
  const owner = { uid: id("-u", name), gid: id("-g", name) };
  mkdirSync(folder, { recursive: true });
  chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  return owner;
}

function id(flag: string, name: string): number {
  return Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }));
}

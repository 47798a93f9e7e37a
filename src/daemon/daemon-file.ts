import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The address of a running daemon. Written once it can be reached, removed when it ends. */
export interface DaemonInfo {
  readonly pid: number;
  readonly version: string;
  readonly url: string;
}

export interface DaemonAddress extends DaemonInfo {
  readonly token: string;
  /** The secret of this very daemon, by which it and its shims prove themselves; undefined: it cannot. */
  readonly shimSecret: string | undefined;
}

/** The address for a person, who may decide. */
export interface PersonAddress extends DaemonAddress {
  readonly decisionKey: string;
}

export function daemonLogFile(home: string): string {
  return join(home, "daemon.log");
}

export function writeDaemonInfo(home: string, info: DaemonInfo): void {
  const path = join(home, "daemon.json");
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  renameSync(partial, path);
}

export function removeDaemonInfo(home: string): void {
  rmSync(join(home, "daemon.json"), { force: true });
}

/** Reads the last known address. A killed daemon leaves its file behind: only an answer proves that it runs. */
export function readDaemonAddress(home: string): DaemonAddress | undefined {
  try {
    const info = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as DaemonInfo;
    const token = readFileSync(join(home, "token"), "utf8").trim();
    return { ...info, token, shimSecret: readShimSecret(home) };
  } catch {
    return undefined; // no daemon has run here, or its file is half written: none is known either way
  }
}

/** Reads the address with the decision key, which takes the rights of the user who runs the daemon. */
export function readPersonAddress(home: string): PersonAddress | undefined {
  const address = readDaemonAddress(home);
  const decisionKey = readDecisionKey(home);
  return address === undefined || decisionKey === undefined ? undefined : { ...address, decisionKey };
}

export function readDecisionKey(home: string): string | undefined {
  try {
    return readFileSync(join(home, "decision-key"), "utf8").trim();
  } catch {
    return undefined; // no daemon has run here, or it is another user's
  }
}

/** Returns the token for the gateway's HTTP interface, MCP included. */
export function ensureToken(home: string): string {
  return ensureSecret(join(home, "token"));
}

/** Returns the key a person needs to decide what agents may do. No client of the gateway ever gets it. */
export function ensureDecisionKey(home: string): string {
  return ensureSecret(join(home, "decision-key"));
}

/**
 * Writes the secret by which this very daemon process and its shims prove themselves to each other. It counts until the next daemon, and
 * stands in no configuration of a client.
 */
export function writeShimSecret(home: string): string {
  const path = shimSecretFile(home);
  const secret = randomBytes(32).toString("base64url");
  rmSync(path, { force: true }); // the mode counts for new files only
  writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: "wx" });
  return secret;
}

export function readShimSecret(home: string): string | undefined {
  try {
    const secret = readFileSync(shimSecretFile(home), "utf8").trim();
    return SECRET.test(secret) ? secret : undefined;
  } catch {
    return undefined; // the daemon is of an older version, or another user's
  }
}

function shimSecretFile(home: string): string {
  return join(home, "shim-secret");
}

/** Shorter text is no secret of PML: the file was cut off, and an empty one would let everybody in. */
const SECRET = /^[\w-]{32,}$/;

/** Creates the secret once and keeps it over restarts, so that configured clients keep working. */
function ensureSecret(path: string): string {
  const known = readSecret(path);
  if (known !== undefined && SECRET.test(known)) return known;
  const secret = randomBytes(32).toString("base64url");
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(partial, path);
  return secret;
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

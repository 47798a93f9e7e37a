import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PmlError } from "../base/errors.ts";

export interface KeySources {
  /** The key itself, from the environment. */
  readonly value: string | undefined;
  readonly file: string | undefined;
  readonly home: string;
  /** True if other gateways use the same database, and so need the same key. */
  readonly shared: boolean;
}

const KEY_BYTES = 32;
const MAKE_ONE = "Make one: openssl rand -base64 32";

export function secretKeyFile(home: string): string {
  return join(home, "secret.key");
}

/** Resolves the key that encrypts secrets in the database. The embedded database gets a generated one. */
export function resolveSecretKey({ value, file, home, shared }: KeySources): Buffer {
  if (value !== undefined && value !== "") return parseKey(value, "PML_SECRET_KEY");
  if (file !== undefined) return parseKey(readKeyFile(file), `secrets.keyFile (${file})`);
  if (shared) {
    throw new PmlError("secret_key_missing", "Storing secrets on a PostgreSQL server needs a key of your own", {
      hint: `Set PML_SECRET_KEY or secrets.keyFile, to the same value on every gateway of the database. ${MAKE_ONE}`,
    });
  }
  return parseKey(ensureKeyFile(secretKeyFile(home)), secretKeyFile(home));
}

function parseKey(text: string, source: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? "hex" : "base64");
  if (key.length === KEY_BYTES) return key;
  throw new PmlError("secret_key_missing", `${source} is not a key of ${KEY_BYTES} bytes in base64 or hex`, {
    hint: MAKE_ONE,
  });
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new PmlError("secret_key_missing", `Cannot read secrets.keyFile (${file})`, { hint: MAKE_ONE, cause });
  }
}

function ensureKeyFile(file: string): string {
  try {
    writeFileSync(file, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return readFileSync(file, "utf8");
}

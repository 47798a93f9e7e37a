import { readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { PmlError } from "../base/errors.ts";
import { replaceFile, resolveLink } from "../base/replace-file.ts";
import { CONFIG_FILE, PERMISSIONS_FILE, type ProjectFile, readAt } from "./project-file.ts";

const storedFile = z.strictObject({
  path: z.string(),
  name: z.enum([CONFIG_FILE, PERMISSIONS_FILE]),
  sha256: z.string(),
  text: z.string(),
  trustedAt: z.string(),
});
const store = z.strictObject({ files: z.array(storedFile) });

/** A file as a person trusted it; its text is kept, so that no later change of the file is ever read. */
export interface TrustedFile extends ProjectFile {
  readonly trustedAt: string;
  /** Whether the file still is what was trusted. */
  readonly state: "trusted" | "changed" | "missing";
}

export function trustStore(home: string): string {
  return join(home, "trusted.json");
}

export function readTrustedFiles(home: string): TrustedFile[] {
  return readStore(home).map((file) => ({ ...file, state: findState(file) }));
}

/** Records what a person has seen; replaces what was trusted at the same path. */
export function trustFile(home: string, { path, name, sha256, text }: ProjectFile, trustedAt: string): void {
  const others = readStore(home).filter((file) => file.path !== path);
  writeStore(home, [...others, { path, name, sha256, text, trustedAt }]);
}

/** Returns false if the file was not trusted. */
export function distrustFile(home: string, given: string): boolean {
  const path = resolveLink(resolve(given));
  const files = readStore(home);
  const others = files.filter((file) => file.path !== path && file.path !== resolve(given));
  if (others.length === files.length) return false;
  writeStore(home, others);
  return true;
}

type StoredFile = z.infer<typeof storedFile>;

function readStore(home: string): StoredFile[] {
  const path = trustStore(home);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")) return [];
    throw damaged(path, cause);
  }
  try {
    return store.parse(JSON.parse(text)).files;
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function writeStore(home: string, files: readonly StoredFile[]): void {
  replaceFile(trustStore(home), `${JSON.stringify({ files }, undefined, 2)}\n`, 0o600);
}

/** An unreadable list may have held prohibitions, so it stops PML instead of being empty. */
function damaged(path: string, cause: unknown): PmlError {
  return new PmlError("config_invalid", `${path}: the list of trusted project files cannot be read`, {
    hint: "Delete it and trust the files again: pml trust <path>",
    cause,
  });
}

function findState({ path, name, sha256 }: StoredFile): TrustedFile["state"] {
  try {
    // a link anywhere in the path leads to another place than the one that was shown
    if (realpathSync(path) !== path) return "changed";
    return readAt(path, name).sha256 === sha256 ? "trusted" : "changed";
  } catch {
    return "missing";
  }
}

import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { PmlError } from "../base/errors.ts";

export const CONFIG_FILE = "pml.json";
export const PERMISSIONS_FILE = "mcp-permissions.yaml";

/** The files of a project that a person can trust. */
const PROJECT_FILES = [CONFIG_FILE, PERMISSIONS_FILE] as const;

export type ProjectFileName = (typeof PROJECT_FILES)[number];

/** A project's file, read once: the hash is of the very text that is parsed and shown. */
export interface ProjectFile {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Its name in the project, which decides its format; a link may lead to a file of another name. */
  readonly name: ProjectFileName;
  readonly sha256: string;
  readonly text: string;
}

/** More could not be shown to a person who has to read all of it. */
const LONGEST_FILE = 64 * 1024;

/** Names the project files of a folder, links included; folders above it are not looked at. */
export function listProjectFiles(folder: string): string[] {
  return PROJECT_FILES.map((name) => join(folder, name)).filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Reads a project's file by the path a person gave. */
export function readProjectFile(given: string): ProjectFile {
  const name = PROJECT_FILES.find((each) => each === basename(given));
  if (name === undefined) {
    throw new PmlError("usage", `Only ${PROJECT_FILES.join(" and ")} of a project can be trusted, not ${given}`, {
      hint: "Other configuration files are named with --config or PML_CONFIG",
    });
  }
  try {
    return readAt(realpathSync(given), name);
  } catch (cause) {
    if (cause instanceof PmlError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("config_not_found", `Cannot read ${given}: ${reason}`, { hint: "Check the path", cause });
  }
}

/** Reads without following links, and without waiting for the writer of a pipe. */
export function readAt(path: string, name: ProjectFileName): ProjectFile {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw unusable(path, "it is not a file");
    if (stats.size > LONGEST_FILE) throw unusable(path, `it is longer than ${LONGEST_FILE} bytes`);
    const bytes = readFileSync(file);
    return { path, name, sha256: hash("sha256", bytes), text: bytes.toString("utf8").replace(/^\uFEFF/, "") };
  } finally {
    closeSync(file);
  }
}

function unusable(path: string, reason: string): PmlError {
  return new PmlError("config_invalid", `${path} cannot be a project's file: ${reason}`, {
    hint: "Settings of your own belong into $PML_HOME/pml.json",
  });
}

import { dirname, join, resolve } from "node:path";
import { resolveLink } from "../base/replace-file.ts";
import { type Environment, environment, resolveHome } from "./environment.ts";
import { CONFIG_FILE, listProjectFiles, PERMISSIONS_FILE } from "./project-file.ts";
import { readTrustedFiles } from "./trusted-files.ts";

export interface UntrustedFile {
  readonly path: string;
  readonly state: "untrusted" | "changed" | "missing";
}

/**
 * Lists the project files of a folder that do not count, and trusted files that have changed since. The configuration
 * in force is none of them, wherever it is.
 */
export function findUntrusted(folder: string, asked: string | undefined, env: Environment): UntrustedFile[] {
  const home = resolveHome(env);
  const here = listProjectFiles(folder);
  const trusted = readTrustedFiles(home);
  const known = new Map(trusted.map(({ path, state }) => [path, state]));
  const inForce = new Set(filesInForce(home, asked ?? env["PML_CONFIG"]).map(resolveLink));
  const strange = here.filter((path) => !inForce.has(resolveLink(path)) && !known.has(resolveLink(path)));
  return [
    ...strange.map((path) => ({ path, state: "untrusted" as const })),
    ...trusted.flatMap(({ path, state }) => (state === "trusted" ? [] : [{ path, state }])),
  ];
}

/** The note for a person: why a file does not count, and the command that shows it and asks. */
export function describeUntrusted({ path, state }: UntrustedFile): string {
  const quoted = /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
  switch (state) {
    case "changed":
      return `Changed since it was trusted: ${path}. Its servers are off, its prohibitions stay. Look at it: pml trust ${quoted}`;
    case "missing":
      return `Trusted, but gone: ${path}. Its prohibitions stay. Forget it: pml trust --remove ${quoted}`;
    case "untrusted":
    default:
      return `Not read, because nobody trusted it: ${path}. Look at it and decide: pml trust ${quoted}`;
  }
}

/** Names the untrusted files of the working directory; a damaged list of trusted ones is reported elsewhere. */
export function noteUntrusted(say: (line: string) => void, asked?: string): void {
  try {
    for (const file of findUntrusted(process.cwd(), asked, environment)) say(describeUntrusted(file));
  } catch {
    return;
  }
}

function filesInForce(home: string, named: string | undefined): string[] {
  const file = named ? resolve(named) : join(home, CONFIG_FILE);
  return [file, join(dirname(file), PERMISSIONS_FILE), join(home, PERMISSIONS_FILE)];
}

import { basename, sep } from "node:path";
import type { FoundServer } from "./read-servers.ts";

/** Remarks about the translation of an entry. */
export interface Remarks {
  /** Changes that were made, or that the user must know about. */
  readonly notes: Set<string>;
  /** Problems that the user must fix before the entry works. */
  readonly problems: Set<string>;
}

export interface TextContext {
  readonly server: Pick<FoundServer, "dialect" | "inputs" | "project">;
  readonly home: string;
  /** Replaces the open folder for a server without its own. */
  readonly folder: string;
  readonly remarks: Remarks;
}

const REFERENCE = /\$\{([^}]*)\}/g;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*(?::-.*)?$/s;

/** Turns every client's syntax for references into `${NAME}`, which PML expands, or into the value. */
export function translateText(text: string, context: TextContext): string {
  return inDialect(text, context).replace(REFERENCE, (whole, inner: string) => {
    const ofEnvironment = inner.startsWith("env:");
    const variable = ofEnvironment ? inner.slice("env:".length) : inner;
    const known = ofEnvironment ? undefined : knownValue(variable, context);
    if (known !== undefined) return known;
    if (variable.startsWith("input:")) return translateInput(variable.slice("input:".length), context);
    if (PLAIN.test(variable)) return `\${${variable}}`;
    context.remarks.problems.add(`PML cannot fill in ${whole}: put its value there`);
    return whole;
  });
}

function inDialect(text: string, { server, remarks }: TextContext): string {
  if (server.dialect === "gemini") return text.replace(/\$([A-Za-z_][A-Za-z0-9_]*)/g, "${$1}");
  if (server.dialect !== "opencode") return text;
  return text.replace(/\{(env|file):([^}]*)\}/g, (whole, kind: string, name: string) => {
    if (kind === "env") return `\${${name}}`;
    remarks.problems.add(`PML cannot fill in ${whole}: put its value there, or a variable such as \${NAME}`);
    return whole;
  });
}

function knownValue(variable: string, { server, home, folder, remarks }: TextContext): string | undefined {
  const workspace = server.project ?? folder;
  const name = variable.replace(/:.*/s, "");
  const values: Readonly<Record<string, string>> = {
    userHome: home,
    workspaceFolder: workspace,
    workspaceRoot: workspace,
    cwd: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: sep,
    "/": sep,
  };
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === workspace) remarks.notes.add(`\${${variable}} became ${workspace}`);
  return value;
}

function translateInput(id: string, { server, remarks }: TextContext): string {
  const name = id
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
  const input = server.inputs.find((each) => each.id === id);
  const what = input?.description === undefined ? "" : ` (${input.description})`;
  remarks.notes.add(`\${input:${id}}${what} became \${${name}}: set ${name} where PML is started`);
  const fallback = input?.password === true ? undefined : input?.default;
  return fallback === undefined || fallback === "" ? `\${${name}}` : `\${${name}:-${fallback}}`;
}

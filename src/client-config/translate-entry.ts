import { resolve } from "node:path";
import type { FoundServer } from "./read-servers.ts";
import { isTable } from "./read-servers.ts";
import { type Remarks, translateText } from "./translate-text.ts";

export interface TranslatedEntry {
  /** In PML's form, not validated yet. */
  readonly entry: Record<string, unknown>;
  readonly notes: readonly string[];
}

export interface TranslateOptions {
  readonly home: string;
  readonly folder: string;
}

/** Other clients' names for PML's fields. */
const ALIASES = {
  env: ["env", "environment"],
  url: ["url", "httpUrl", "serverUrl"],
  headers: ["headers", "http_headers"],
  type: ["type", "transport"],
  timeout: ["timeout", "tool_timeout_sec"],
  tools: ["tools", "includeTools", "enabled_tools"],
} as const;

/** Takes fields out of an entry; the remaining ones are reported. */
class Fields {
  readonly #rest: Map<string, unknown>;

  constructor(raw: Readonly<Record<string, unknown>>) {
    this.#rest = new Map(Object.entries(raw).filter(([, value]) => value !== undefined && value !== null));
  }

  /** Takes the first of these fields that has the right type. */
  take<T>(names: readonly string[], isRight: (value: unknown) => value is T): T | undefined {
    const name = names.find((each) => isRight(this.#rest.get(each)));
    if (name === undefined) return undefined;
    const value = this.#rest.get(name) as T;
    this.#rest.delete(name);
    return value;
  }

  get rest(): readonly string[] {
    return [...this.#rest.keys()];
  }
}

/** Translates a server's entry of any client to PML's form, with notes on everything that changed. */
export function translateEntry(server: FoundServer, options: TranslateOptions): TranslatedEntry {
  const remarks: Remarks = { notes: new Set(), problems: new Set() };
  const text = (value: string): string => translateText(value, { server, ...options, remarks });
  const fields = new Fields(server.raw);
  const entry = {
    ...readCommand(fields, server, { text, remarks }),
    ...readRemote(fields, text),
    ...readSwitches(fields, server, remarks),
  };
  reportRest(fields.rest, remarks);
  if (remarks.problems.size === 0) return { entry, notes: [...remarks.notes] };
  const disabled = 'it is imported as "disabled": true until then';
  return {
    entry: { ...entry, disabled: true },
    notes: [...remarks.notes, ...[...remarks.problems].map((problem) => `${problem}; ${disabled}`)],
  };
}

type TranslateText = (value: string) => string;

function readCommand(
  fields: Fields,
  { project }: FoundServer,
  { text, remarks }: { readonly text: TranslateText; readonly remarks: Remarks },
): Record<string, unknown> {
  const [first, ...words] = [fields.take(["command"], isCommand) ?? []].flat();
  const args = [...words, ...(fields.take(["args"], isTexts) ?? [])].map(text);
  const given = fields.take(["cwd"], isText);
  const cwd = given === undefined ? project : resolvePath(text(given), project);
  const envFile = fields.take(["envFile"], isText);
  const env = { ...forwarded(fields), ...texts(fields.take(ALIASES.env, isTable), text) };
  if (first === undefined) return optional({ env: unlessEmpty(env) });
  if (given === undefined && project !== undefined)
    remarks.notes.add(`it belongs to ${project}, so PML starts it there`);
  return optional({
    command: text(first),
    args: args.length === 0 ? undefined : args,
    env: unlessEmpty(env),
    cwd,
    envFile: envFile === undefined ? undefined : resolvePath(text(envFile), cwd),
  });
}

/** Resolves a client's path below its folder; one that starts with a variable is already absolute. */
function resolvePath(path: string, folder: string | undefined): string {
  const expanded = path.replace(/^~(?=[/\\]|$)/, "${HOME}");
  return expanded.startsWith("${") ? expanded : resolve(folder ?? "", expanded);
}

/** Codex lists the variables that a server inherits from its environment. */
function forwarded(fields: Fields): Record<string, string> {
  const names = (fields.take(["env_vars"], Array.isArray) ?? []).map((each: unknown) =>
    isTable(each) ? each["name"] : each,
  );
  return Object.fromEntries(names.filter(isText).map((name) => [name, `\${${name}}`]));
}

function readRemote(fields: Fields, text: TranslateText): Record<string, unknown> {
  const url = fields.take(ALIASES.url, isText);
  const bearer = fields.take(["bearer_token_env_var"], isText);
  const named = fields.take(["env_http_headers"], isTable) ?? {};
  const headers = {
    ...texts(fields.take(ALIASES.headers, isTable), text),
    ...Object.fromEntries(Object.entries(named).map(([header, name]) => [header, `\${${String(name)}}`])),
    ...(bearer === undefined ? {} : { Authorization: `Bearer \${${bearer}}` }),
  };
  return optional({ url: url === undefined ? undefined : text(url), headers: unlessEmpty(headers) });
}

const TYPES: Readonly<Record<string, string | undefined>> = {
  stdio: undefined,
  local: undefined,
  remote: undefined,
  http: "http",
  "streamable-http": "http",
  streamable_http: "http",
  streamableHttp: "http",
  sse: "sse",
};
/** Real timeouts lie between a second and a thousand: larger numbers are milliseconds. */
const MIN_MILLISECONDS = 1_000;

function readSwitches(fields: Fields, { off }: FoundServer, remarks: Remarks): Record<string, unknown> {
  const type = fields.take(ALIASES.type, isText) ?? "stdio";
  if (!Object.hasOwn(TYPES, type)) remarks.problems.add(`PML knows no transport "${type}"`);
  const enabled = fields.take(["enabled"], isBoolean);
  const disabled = fields.take(["disabled"], isBoolean);
  const timeout = fields.take(ALIASES.timeout, isNumber);
  const tools = fields.take(ALIASES.tools, isTexts);
  return optional({
    type: TYPES[type],
    disabled: off || disabled === true || enabled === false ? true : undefined,
    timeout: timeout !== undefined && timeout >= MIN_MILLISECONDS ? timeout / 1000 : timeout,
    tools: tools?.includes("*") === true ? undefined : tools,
    pml: fields.take(["pml"], isTable),
  });
}

const EXCLUDING = new Set(["excludeTools", "disabled_tools", "disabledTools"]);

function reportRest(rest: readonly string[], { notes }: Remarks): void {
  const other = rest.filter((name) => !EXCLUDING.has(name)).map((name) => `"${name}"`);
  if (other.length > 0) notes.add(`not taken over, PML has no such setting: ${other.join(", ")}`);
  for (const name of rest.filter((each) => EXCLUDING.has(each)))
    notes.add(`"${name}" was not taken over: name the tools that are allowed instead, in "tools"`);
}

function texts(table: Readonly<Record<string, unknown>> | undefined, text: TranslateText): Record<string, string> {
  const filled = Object.entries(table ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(filled.map(([name, value]) => [name, text(String(value))]));
}

function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function optional(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

/** One word, or (opencode) a list of all of them. */
function isCommand(value: unknown): value is string | string[] {
  return isText(value) || isTexts(value);
}

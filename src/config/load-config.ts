import { z } from "zod";
import { PmlError } from "../base/errors.ts";
import { findClosest } from "../base/closest.ts";
import { type ConfigFile, findConfigFile } from "./config-file.ts";
import { type Environment, resolveHome } from "./environment.ts";
import { configSchema, type ConfigValues } from "./schema.ts";
import { readTrustedFiles, type TrustedFile } from "./trusted-files.ts";
import { isObject } from "../base/json.ts";

/** Settings from the command line; they override everything else. */
export interface ConfigFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly pg?: string;
}

export interface Config extends ConfigValues {
  readonly home: string;
  /** The file that was read, if any. */
  readonly file: string | undefined;
  /** True if the user set the port; a default one may give way when it is in use. */
  readonly portChosen: boolean;
  /** Files of projects that a person trusted. */
  readonly projects: readonly TrustedFile[];
}

/** Merges file, environment and flags, in rising order, once. The result is immutable. */
export function loadConfig(flags: ConfigFlags, env: Environment): Config {
  return mergeConfig(findConfigFile(flags.config, env, resolveHome(env)), flags, env);
}

/** Merges as `loadConfig` does, with a file that was read before or is about to be written. */
export function mergeConfig(file: ConfigFile | undefined, flags: ConfigFlags, env: Environment): Config {
  const home = resolveHome(env);
  const overrides = { ...readEnvironment(env), ...readFlags(flags) };
  const merged = structuredClone(file?.value ?? {});
  for (const [path, { value }] of Object.entries(overrides)) setPath(merged, path.split("."), value);
  const parsed = configSchema.safeParse(merged);
  if (!parsed.success) throw invalidConfig(parsed.error, file, overrides);
  const portChosen = findPath(merged, ["http", "port"]) !== undefined;
  return deepFreeze({ ...parsed.data, home, file: file?.path, portChosen, projects: readTrustedFiles(home) });
}

interface Override {
  readonly value: unknown;
  /** The user's name for it, for messages. */
  readonly source: string;
}
type Overrides = Record<string, Override>;

function readEnvironment(env: Environment): Overrides {
  const overrides: Overrides = {};
  const port = env["PML_PORT"];
  if (port) overrides["http.port"] = { value: /^\d+$/.test(port) ? Number(port) : port, source: "PML_PORT" };
  const url = env["DATABASE_URL"];
  if (url) overrides["database.url"] = { value: url, source: "DATABASE_URL" };
  const org = env["PML_ORG"];
  if (org) overrides["scope.org"] = { value: org, source: "PML_ORG" };
  const project = env["PML_PROJECT"];
  if (project) overrides["scope.project"] = { value: project, source: "PML_PROJECT" };
  const level = env["PML_LOG_LEVEL"];
  if (level) overrides["log.level"] = { value: level, source: "PML_LOG_LEVEL" };
  return overrides;
}

function readFlags({ host, port, pg }: ConfigFlags): Overrides {
  return {
    ...(host === undefined ? {} : { "http.host": { value: host, source: "--host" } }),
    ...(port === undefined ? {} : { "http.port": { value: port, source: "--port" } }),
    ...(pg === undefined ? {} : { "database.url": { value: pg, source: "--pg" } }),
  };
}

function invalidConfig(error: z.ZodError, file: ConfigFile | undefined, overrides: Overrides): PmlError {
  const [issue] = error.issues;
  if (issue === undefined) throw error;
  const { path, problem, hint } = describeIssue(issue);
  const override = overrides[path.join(".")];
  const where = override?.source ?? file?.locate(path) ?? "configuration";
  const name = path.length === 0 || override !== undefined ? "" : ` "${path.join(".")}"`;
  return new PmlError("config_invalid", `${where}:${name} ${problem}`, {
    hint: hint ?? "All keys are in docs/reference/config.md",
    details: { path: path.join(".") },
  });
}

function describeIssue(issue: z.core.$ZodIssue): { path: PropertyKey[]; problem: string; hint?: string } {
  if (issue.code === "invalid_key")
    return { path: [...issue.path], problem: lowerFirst(issue.issues[0]?.message ?? issue.message) };
  if (issue.code !== "unrecognized_keys") return { path: [...issue.path], problem: lowerFirst(issue.message) };
  const key = issue.keys[0] ?? "";
  const known = knownKeys(issue.path);
  const closest = findClosest(key, known);
  return {
    path: [...issue.path, key],
    problem: "is not a known key",
    hint: closest === undefined ? `Known keys here: ${known.join(", ")}` : `Did you mean "${closest}"?`,
  };
}

/** Reads the keys the schema has at a path from its JSON Schema, which is easier to walk. */
function knownKeys(path: readonly PropertyKey[]): string[] {
  let node: unknown = z.toJSONSchema(configSchema, { io: "input" });
  for (const key of path) {
    node = findPath(node, ["properties", String(key)]) ?? findPath(node, ["additionalProperties"]);
  }
  return Object.keys(findPath(node, ["properties"]) ?? {});
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function setPath(target: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (key === undefined) return;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const child = target[key] ?? {};
  target[key] = child;
  // Leaves a value of another type alone: validation reports it with its position in the file.
  if (isObject(child)) setPath(child, rest, value);
}

function findPath(target: unknown, path: readonly string[]): unknown {
  return path.reduce((value, key) => (isObject(value) ? value[key] : undefined), target);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

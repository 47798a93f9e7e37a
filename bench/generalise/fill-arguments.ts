import { canonical } from "../../src/base/canonical.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../../src/base/json.ts";
import type { ArgumentSite, PlayedTask } from "./played-world.ts";

/** The arguments of a call by name, as an agent would give them who knows the task and reads the declaration. */
export interface FilledArguments {
  readonly args: JsonObject;
  /** Required parameters that the agent has no value for. */
  readonly unknown: readonly string[];
}

export function fillArguments(parameters: JsonSchema, task: PlayedTask): FilledArguments {
  const properties = Object.keys(parameters["properties"] ?? {});
  const required = (parameters["required"] ?? []) as readonly string[];
  const used = new Set<ArgumentSite>();
  const args: Record<string, JsonValue> = {};
  for (const name of properties) {
    const value = findValue(name, task, used);
    if (value !== undefined) args[name] = value;
  }
  // A value that no parameter takes is given all the same: a capability that cannot use it has to refuse it.
  for (const [name, value] of Object.entries(task.values)) if (!isTaken(value, args)) args[name] = value;
  return { args, unknown: required.filter((name) => !Object.hasOwn(args, name)) };
}

function isTaken(value: JsonValue, args: JsonObject): boolean {
  const text = canonical(value);
  return Object.values(args).some(
    (given) => canonical(given) === text || (Array.isArray(given) && given.some((item) => canonical(item) === text)),
  );
}

/** Finds the value of the task that a parameter stands for, by its name. */
export function findValue(
  name: string,
  { values, sites }: PlayedTask,
  used = new Set<ArgumentSite>(),
): JsonValue | undefined {
  if (Object.hasOwn(values, name)) return values[name];
  const fitting = sites.filter((site) => namesOf(site).includes(name.replace(/_\d+$/, "")));
  const site = fitting.find((each) => !used.has(each)) ?? fitting[0];
  if (site !== undefined) used.add(site);
  return site?.value;
}

/** The names that a parameter for this value may have: that of the argument, alone or after the tool's verb. */
function namesOf({ tool, argument, isList }: ArgumentSite): string[] {
  const verb = /:([a-z]+)/.exec(tool)?.[1] ?? "";
  const singular = [argument, `${verb}_${argument}`];
  return isList ? [...singular, ...singular.map(plural)] : singular;
}

function plural(name: string): string {
  if (name.endsWith("s")) return `${name}_list`;
  return name.endsWith("y") ? `${name.slice(0, -1)}ies` : `${name}s`;
}

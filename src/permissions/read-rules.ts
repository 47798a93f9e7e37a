import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/load-config.ts";
import { readProjectConfig } from "../config/project-config.ts";
import { PERMISSIONS_FILE, type ProjectFile } from "../config/project-file.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { parsePermissionsFile } from "./permissions-file.ts";
import type { Decision } from "./plan.ts";
import { joinRules, type Rules, type RuleSet, tighten } from "./rule-model.ts";
import { createPattern } from "./tool-pattern.ts";
import { broken, NOTHING_PERMITTED } from "./yaml-file.ts";

type RuleConfig = Pick<Config, "home" | "file" | "permissions"> & Partial<Pick<Config, "projects">>;

/**
 * Paths of permissions files: in PML_HOME and beside the configuration file. All that exist apply, but one outside of
 * PML_HOME only forbids or asks: nobody named it.
 */
export function permissionsFiles({ home, file }: Pick<Config, "home" | "file">): string[] {
  const folders = file === undefined ? [home] : [home, dirname(file)];
  return [...new Set(folders.map((folder) => join(folder, PERMISSIONS_FILE)))];
}

/** Reads all rules. Never throws: broken rules are a result that denies everything. */
export function readRules(config: RuleConfig): RuleSet {
  try {
    const [own = "", ...beside] = permissionsFiles(config);
    const rules = [
      rulesOfConfig(config),
      ...readFile(own),
      ...beside.flatMap(readFile).map(tighten),
      ...(config.projects ?? []).map(rulesOfProject),
    ];
    return { kind: "usable", rules: joinRules(rules) };
  } catch (error) {
    return brokenRules(error);
  }
}

/** Rule set for unreadable rules, which permits nothing. */
export function brokenRules(cause: unknown): RuleSet {
  const error = toErrorReport(cause);
  const at = error.details?.["at"];
  if (error.code === "permissions_broken" && typeof at === "string") {
    return { kind: "broken", error, source: { kind: "file", at } };
  }
  // the configuration's own error names the location
  const known = new PmlError("permissions_broken", `${error.message}. ${NOTHING_PERMITTED}`, {
    hint: error.hint ?? "Fix the configuration file; PML reads it again on change",
    details: { at: error.message.split(" ")[0] },
  });
  return brokenRules(known);
}

function readFile(path: string): Rules[] {
  let text: string;
  try {
    // a dangling link is an error, not a missing file: rules were meant to be there
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw broken(path, `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  return [parsePermissionsFile(path, text)];
}

/** Rules of a trusted file, as it was when it was trusted: no change of the file lifts a prohibition. */
export function rulesOfProject(project: ProjectFile): Rules {
  if (project.name === PERMISSIONS_FILE) return tighten(parsePermissionsFile(project.path, project.text));
  const { permissions } = readProjectConfig(project);
  return rulesOfConfig({ file: project.path, permissions: { ...permissions, allow: [], effects: {} } });
}

type ConfiguredRules = Pick<Config["permissions"], "allow" | "ask" | "deny" | "effects">;

function rulesOfConfig({ file, permissions }: Pick<Config, "file"> & { permissions: ConfiguredRules }): Rules {
  const state = <T>(text: string, value: T, key: string) => ({
    pattern: createPattern(text),
    value,
    source: { kind: "config" as const, at: `permissions.${key}${file === undefined ? "" : ` of ${file}`}` },
  });
  const list = (decision: Decision) =>
    permissions[decision].map((text, index) => state(text, decision, `${decision}[${index}]`));
  return {
    decisions: [...list("allow"), ...list("ask"), ...list("deny")],
    effects: Object.entries(permissions.effects).map(([text, effect]) => state(text, effect, `effects["${text}"]`)),
    routings: [],
    scopes: [],
  };
}

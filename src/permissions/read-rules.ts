import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/load-config.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { parsePermissionsFile } from "./permissions-file.ts";
import type { Decision } from "./plan.ts";
import { joinRules, type Rules, type RuleSet } from "./rule-model.ts";
import { createPattern } from "./tool-pattern.ts";
import { broken, UNTIL_MENDED } from "./yaml-file.ts";

export const PERMISSIONS_FILE = "mcp-permissions.yaml";

type RuleConfig = Pick<Config, "home" | "file" | "permissions">;

/** Where a permissions file may lie: in PML_HOME and beside the configuration file. All that exist count. */
export function permissionsFiles({ home, file }: Pick<Config, "home" | "file">): string[] {
  const folders = file === undefined ? [home] : [home, dirname(file)];
  return [...new Set(folders.map((folder) => join(folder, PERMISSIONS_FILE)))];
}

/** Everything that is written down about permissions; never throws, since what is broken is an answer too. */
export function readRules(config: RuleConfig): RuleSet {
  try {
    const files = permissionsFiles(config).flatMap(readFile);
    return { kind: "usable", rules: joinRules([rulesOfConfig(config), ...files]) };
  } catch (error) {
    return brokenRules(error);
  }
}

/** The rules that hold while something cannot be read: none, so nothing is permitted. */
export function brokenRules(cause: unknown): RuleSet {
  const error = toErrorReport(cause);
  const at = error.details?.["at"];
  if (error.code === "permissions_broken" && typeof at === "string") {
    return { kind: "broken", error, source: { kind: "file", at } };
  }
  // a configuration that cannot be read: its own error says where
  const known = new PmlError("permissions_broken", `${error.message}. ${UNTIL_MENDED}`, {
    hint: error.hint ?? "Mend the configuration file; it is read again by itself",
    details: { at: error.message.split(" ")[0] },
  });
  return brokenRules(known);
}

function readFile(path: string): Rules[] {
  let text: string;
  try {
    // a link to nowhere is no missing file: somebody wanted rules to be there
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw broken(path, `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  return [parsePermissionsFile(path, text)];
}

function rulesOfConfig({ file, permissions }: RuleConfig): Rules {
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

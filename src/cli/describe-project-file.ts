import { foldServer } from "../catalogue/tool-id.ts";
import { PmlError } from "../base/errors.ts";
import { toVisible } from "../base/visible.ts";
import type { Config } from "../config/load-config.ts";
import { allServers, readProjectConfig } from "../config/project-config.ts";
import { CONFIG_FILE, type ProjectFile } from "../config/project-file.ts";
import type { McpServerEntry } from "../config/schema.ts";
import { parsePermissionsFile } from "../permissions/permissions-file.ts";
import { rulesOfProject } from "../permissions/read-rules.ts";
import { type Rules, tighten } from "../permissions/rule-model.ts";

export interface ProjectDescription {
  /** Everything the file would do, for a person. */
  readonly shown: string;
  readonly summary: string;
}

/** Describes the effect of a project's file, from the parsers whose results will count. */
export function describeProjectFile(file: ProjectFile, config: Config): ProjectDescription {
  const { servers, ignored } = readParts(file);
  const taken = allServers({ ...config, projects: config.projects.filter(({ path }) => path !== file.path) });
  const known = new Set(Object.keys(taken).map(foldServer));
  const collision = Object.keys(servers).find((name) => known.has(foldServer(name)));
  if (collision !== undefined) {
    throw new PmlError("config_invalid", `${file.path} adds a server "${collision}", and there is one of that name`, {
      hint: "Give one of them another name: pml servers",
    });
  }
  const rules = describeRules(rulesOfProject(file));
  const entries = Object.entries(servers);
  const shown = [
    `${file.path}\nsha256 ${file.sha256}`,
    section("Programs it starts with your rights, and addresses it connects to:", entries.flatMap(describeServer)),
    section("Rules it adds:", rules),
    section("Ignored, because a project may not set it:", ignored.map(quote)),
  ];
  return {
    shown: toVisible(shown.filter(Boolean).join("\n\n")),
    summary: `${entries.length} servers, ${rules.length} rules, ${ignored.length} ignored keys`,
  };
}

function readParts(file: ProjectFile): Pick<ReturnType<typeof readProjectConfig>, "servers" | "ignored"> {
  if (file.name === CONFIG_FILE) return readProjectConfig(file);
  const all = parsePermissionsFile(file.path, file.text);
  const kept = tighten(all);
  const dropped = [
    ...all.decisions.filter(({ value }) => value === "allow"),
    ...all.effects,
    ...all.routings,
    ...all.scopes.filter((scope) => !kept.scopes.includes(scope)),
  ];
  return { servers: {}, ignored: dropped.map(({ pattern, value }) => `${value} ${pattern.text}`) };
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Describes what a server starts or reaches, all of it. */
export function describeServer([name, entry]: readonly [string, McpServerEntry]): string[] {
  const { command, args = [], cwd, url, env = {}, envFile, headers = {} } = entry;
  const start = command === undefined ? quote(url ?? "") : [command, ...args].map(quote).join(" ");
  const variables = [...new Set(JSON.stringify(entry).match(/\$\{(?:env:)?\w+/g))].map((text) => `${text}}`);
  const facts = {
    "in the folder": cwd,
    "with the environment": pairs(env),
    "and that of the file": envFile,
    "with the headers": pairs(headers),
    "given your variables": variables.join(", "),
  };
  const lines = Object.entries(facts).filter(([, value]) => value !== undefined && value !== "");
  return [`${name}: ${start}`, ...lines.map(([label, value]) => `    ${label} ${quote(value ?? "")}`)];
}

/** Values too: one of NODE_OPTIONS or PATH decides what runs. */
function pairs(record: Readonly<Record<string, string>>): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

function describeRules({ decisions, scopes }: Rules): string[] {
  return [
    ...decisions.map(({ value, pattern }) => `${value} ${quote(pattern.text)}`),
    ...scopes.map(({ pattern }) => `only reading tools of ${quote(pattern.text)}`),
  ];
}

/** Quotes words that are not plain, so that no line break or blank of the file looks like a word of PML. */
function quote(text: string): string {
  return /^[\w./:@=+,*{}$-]+$/.test(text) ? text : JSON.stringify(text);
}

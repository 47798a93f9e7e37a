import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { analyseProgram } from "../../src/analysis/analyse-program.ts";
import type { ToolCatalogue } from "../../src/analysis/structure.ts";
import type { Nameable } from "../../src/naming/nameable.ts";

/** A program and the names that a person would accept unchanged. */
export interface Example {
  readonly nameable: Nameable;
  readonly acceptable: Pick<ReadonlySet<string>, "has">;
  /** Held out: scored, but never looked at while the rules change. */
  readonly setAside: boolean;
}

/** Parses entries of `=== id`, intent, patterns of names with `{a,b}`, program. */
export function readExamples(): Example[] {
  const text = readFileSync(new URL("programs.txt", import.meta.url), "utf8");
  return text.split(/^=== /m).slice(1).map(readExample);
}

const PATTERN = /^[\w{},-]+:\S+$/;

function readExample(entry: string): Example {
  const [id = "", intent = "", ...rest] = entry.trimEnd().split("\n");
  const end = rest.findIndex((line) => !PATTERN.test(line));
  const code = rest.slice(end).join("\n");
  return {
    nameable: { id, currentName: `unnamed_${id}`, intents: [intent], code, ...analyse(id, code) },
    acceptable: new Set(rest.slice(0, end).flatMap(expandBraces)),
    setAside: isSetAside(id),
  };
}

function isSetAside(id: string): boolean {
  return (createHash("sha256").update(id).digest()[0] ?? 0) % 2 === 0;
}

/** Knows every tool that a program calls. */
const everything: ToolCatalogue = { findTool: (server, tool) => ({ id: `${server}:${tool}` }) };

function analyse(id: string, code: string): Pick<Nameable, "tools" | "parameters"> {
  const outcome = analyseProgram(code, everything);
  if (outcome.kind === "syntax_error") throw new Error(`${id}: ${outcome.problem.message}`);
  const { tools, parameters } = outcome.program;
  return { tools, parameters: Object.keys(parameters["properties"] ?? {}) };
}

export function expandBraces(pattern: string): string[] {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (before === undefined || choices === undefined || after === undefined) return [pattern];
  return choices.split(",").flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}

import { parseToolId } from "../catalogue/tool-id.ts";
import { DATA_FORMATS, findVerb, splitWords } from "./verbs.ts";

/** Verb and object that a program's code and tools suggest. */
export interface ProgramClues {
  readonly verb: string | undefined;
  readonly target: readonly string[];
  /** Words in the names of its tools, tables and formats. */
  readonly vocabulary: ReadonlySet<string>;
}

export interface ProgramFacts {
  readonly code: string;
  readonly tools: readonly string[];
}

const WRITING = new Set(
  `create update delete write send post add insert move edit remove merge close refund put scale restart commit push
  generate submit install`.split(/\s+/),
);

/** Plain words for protocol verbs. */
const TOOL_VERBS: Readonly<Record<string, string>> = {
  post: "create",
  put: "save",
  patch: "update",
  retrieve: "get",
  describe: "get",
};

export function readProgram({ code, tools }: ProgramFacts): ProgramClues {
  const sql = readSql(code);
  const calls = inOrderOfUse(tools, code).map(readToolName);
  const formats = [...DATA_FORMATS].filter((each) => usesFormat(code, each));
  const main = findMainCall(calls);
  const target = sql?.target ?? main?.target ?? [];
  return {
    verb: sql?.verb ?? main?.verb,
    target: target.length === 0 ? formats.slice(0, 1) : target,
    vocabulary: new Set([
      ...calls.flatMap(({ words }) => words),
      ...target,
      ...formats,
      ...splitWords(withoutSyntax(code)),
    ]),
  };
}

/** The last writing call defines the purpose; without one, the last call with an object does. */
function findMainCall(calls: readonly ToolWords[]): ToolWords | undefined {
  return (
    calls.findLast(({ verb }) => verb !== undefined && WRITING.has(verb)) ??
    calls.findLast(({ verb, target }) => verb !== undefined && target.length > 0) ??
    calls.at(-1)
  );
}

function withoutSyntax(code: string): string {
  return code.replace(/\b(?:await|const|return|args|mcp|let|for|of|if)\b/g, " ");
}

function usesFormat(code: string, format: string): boolean {
  return code.includes(`.${format}"`) || (format === "json" && /JSON\.(?:parse|stringify)/.test(code));
}

function inOrderOfUse(tools: readonly string[], code: string): string[] {
  const at = (tool: string): number => code.indexOf(parseToolId(tool).tool);
  return tools.toSorted((a, b) => at(a) - at(b));
}

interface ToolWords {
  readonly verb: string | undefined;
  readonly target: readonly string[];
  readonly words: readonly string[];
}

const LONGEST_TARGET = 3;

/** `slack:slack_list_channels` means to list channels; words before the verb are a prefix. */
function readToolName(id: string): ToolWords {
  const ref = parseToolId(id);
  const server = splitWords(ref.server);
  const words = splitWords(ref.tool).filter((word) => !server.includes(word));
  const at = words.findIndex((word) => findVerb(word) !== undefined);
  const found = at < 0 ? undefined : findVerb(words[at] ?? "");
  const verb = found === undefined ? undefined : (TOOL_VERBS[found] ?? found);
  const target = (at < 0 ? words : words.slice(at + 1)).slice(0, LONGEST_TARGET);
  return { verb, target, words: [...server, ...words] };
}

const SQL_VERBS: readonly (readonly [RegExp, string])[] = [
  [/\binsert\s+into\s+["`]?(\w+)/i, "insert"],
  [/\bupdate\s+["`]?(\w+)["`]?\s+set\b/i, "update"],
  [/\bdelete\s+from\s+["`]?(\w+)/i, "delete"],
  [/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?["`]?(\w+)/i, "create"],
  [/\bselect\b[\s\S]*?\bfrom\s+["`]?(\w+)/i, "query"],
];

function readSql(code: string): { readonly verb: string; readonly target: readonly string[] } | undefined {
  for (const [pattern, verb] of SQL_VERBS) {
    const table = pattern.exec(code)?.[1];
    if (table !== undefined) return { verb, target: splitWords(table) };
  }
  return undefined;
}

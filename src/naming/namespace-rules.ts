import { parseToolId } from "../catalogue/tool-id.ts";
import { findToolVerb } from "./tool-words.ts";
import { splitWords } from "./verbs.ts";

/** Maps tools, as `server:tool` patterns with `*`, to a namespace. */
interface NamespaceRule {
  readonly namespace: string;
  readonly tools: readonly string[];
  /** Below 1 for rules that only match the shape of a name. */
  readonly certainty: number;
}

export const NAMESPACE_WITHOUT_RULE = "util";

/** The first matching rule wins: known servers come before generic tool names. */
const NAMESPACE_RULES: readonly NamespaceRule[] = [
  {
    namespace: "fs",
    certainty: 1,
    tools: ["fs:*", "file*:*", "*filesystem*:*", "*pdf*:*", "*:*_directory", "*:*_file"],
  },
  { namespace: "git", certainty: 1, tools: ["git:*", "git-*:*", "*-git:*", "*:git_*"] },
  {
    namespace: "db",
    certainty: 1,
    tools: [
      "db:*",
      "database*:*",
      "*sql*:*",
      "postgres*:*",
      "*mongo*:*",
      "*redis*:*",
      "*bigquery*:*",
      "*duckdb*:*",
      "*clickhouse*:*",
      "*snowflake*:*",
      "*elastic*:*",
      "*qdrant*:*",
      "*chroma:*",
      "memory*:*",
      "*-memory:*",
      "*:*_query",
      "*:*query",
      "*:execute_sql",
      "*:*_sql",
    ],
  },
  {
    namespace: "shell",
    certainty: 1,
    tools: [
      "shell*:*",
      "*bash*:*",
      "*command*:*",
      "*terminal*:*",
      "*docker*:*",
      "*runner*:*",
      "*:run*command",
      "*:exec",
    ],
  },
  {
    namespace: "ai",
    certainty: 1,
    tools: [
      "*openai*:*",
      "*anthropic*:*",
      "*ollama*:*",
      "*llm*:*",
      "*replicate*:*",
      "*hugging*:*",
      "*thinking*:*",
      "*:*completion*",
      "*:*embedding*",
      "*:generate_image",
      "*:generate_text",
    ],
  },
  { namespace: "util", certainty: 0.8, tools: ["time:*", "clock:*", "*calculator*:*", "everything:*"] },
  {
    namespace: "transform",
    certainty: 1,
    tools: ["*:convert_*", "*:transform_*", "*:*_to_*", "*chart*:*", "*:render_*"],
  },
  {
    namespace: "api",
    certainty: 1,
    tools: ["http*:*", "*fetch*:*", "*api*:*", "*:http_*", "*browser*:*", "*:browser_*", "playwright*:*"],
  },
  // CRUD-shaped tools on an unknown server point to a web service.
  {
    namespace: "api",
    certainty: 0.9,
    tools: [
      ...[
        "create",
        "get",
        "list",
        "describe",
        "update",
        "delete",
        "search",
        "send",
        "post",
        "add",
        "find",
        "read",
        "put",
      ].flatMap((verb) => [`*:${verb}_*`, `*:${verb}-*`, `*:*_${verb}_*`, `*:*-${verb}-*`, `*:*${verb}`]),
      "*:*crawl*",
      "*:*scrape*",
      "*:*extract*",
      "*:*fetch*",
      "*:*search*",
      "*:*docs*",
      "*:kubectl_*",
    ],
  },
];

/** Tie-break: the namespace that says more about the program's purpose comes first. */
const PRECEDENCE = ["db", "git", "shell", "ai", "api", "transform", "fs", "util"];

export interface InferredNamespace {
  readonly namespace: string;
  /** From 0 to 1: share of tools that match, weighted by certainty. */
  readonly match: number;
  /** The matching tools. */
  readonly tools: readonly string[];
}

export function inferNamespace(tools: readonly string[]): InferredNamespace {
  const votes = tools.map((tool) => ({ tool, ...findRule(tool) }));
  const groups = [...Map.groupBy(votes, ({ namespace }) => namespace)];
  const [most] = groups.toSorted(
    ([a, ofA], [b, ofB]) => ofB.length - ofA.length || PRECEDENCE.indexOf(a) - PRECEDENCE.indexOf(b),
  );
  if (most === undefined) return { namespace: NAMESPACE_WITHOUT_RULE, match: 0, tools: [] };
  const [namespace, voters] = most;
  const certainty = voters.reduce((sum, voter) => sum + voter.certainty, 0) / voters.length;
  // The rule's certainty weighs two thirds, the share of tools one third.
  const share = voters.length / votes.length;
  return { namespace, match: certainty * (2 / 3 + share / 3), tools: voters.map(({ tool }) => tool) };
}

/** Verbs of tools that serve any purpose; others (`share_file`) say what they are used for. */
const GENERAL_VERBS = new Set(
  `read write list get search query run execute exec fetch create open navigate edit find call insert add set save send generate move fill click`.split(
    /\s+/,
  ),
);

/** Tells whether a tool is used for anything, like files, SQL, commands and web pages, so that its name says little. */
export function isGeneralPurpose(tool: string, verb: string | undefined): boolean {
  const { namespace, certainty } = findRule(tool);
  const isGeneral = certainty === 1 || (namespace === NAMESPACE_WITHOUT_RULE && certainty > NO_RULE_CERTAINTY);
  return isGeneral && (verb === undefined || GENERAL_VERBS.has(verb));
}

const NO_RULE_CERTAINTY = 0.3;
const SERVICE_CERTAINTY = 0.8;

function findRule(tool: string): { readonly namespace: string; readonly certainty: number } {
  const name = tool.toLowerCase();
  const rule = NAMESPACE_RULES.find(({ tools }) => tools.some((pattern) => matchesPattern(name, pattern)));
  if (rule !== undefined) return rule;
  const [verb = "", ...target] = splitWords(parseToolId(tool).tool);
  // Any other verb with an object is a web service's as well: `shop:cancel_order`.
  return target.length > 0 && findToolVerb(verb) !== undefined
    ? { namespace: "api", certainty: SERVICE_CERTAINTY }
    : { namespace: NAMESPACE_WITHOUT_RULE, certainty: NO_RULE_CERTAINTY };
}

/** `*` matches any characters, including none. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}

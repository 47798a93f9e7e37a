/** Tools, as patterns of `server:tool` with `*`, and the namespace that they speak for. */
interface NamespaceRule {
  readonly namespace: string;
  readonly tools: readonly string[];
  /** How sure the rule is; below 1 for rules that go by the shape of a name alone. */
  readonly certainty: number;
}

export const NAMESPACE_WITHOUT_RULE = "util";

/** The first rule that fits a tool counts: servers known by name, then what tools are called. */
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
  // A server that creates, lists and updates things of its own is somebody's service behind a web interface.
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

/** Where as many tools speak for one as for another: the one that says more about what the program is for. */
const PRECEDENCE = ["db", "git", "shell", "ai", "api", "transform", "fs", "util"];

export interface InferredNamespace {
  readonly namespace: string;
  /** 0 to 1: how many of the tools speak for it, and how surely. */
  readonly match: number;
  /** The tools that speak for it. */
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
  // Two thirds of the weight for the rule, one third for how much of the program it covers.
  const share = voters.length / votes.length;
  return { namespace, match: certainty * (2 / 3 + share / 3), tools: voters.map(({ tool }) => tool) };
}

const UNCERTAIN = 0.3;

function findRule(tool: string): { readonly namespace: string; readonly certainty: number } {
  const name = tool.toLowerCase();
  const rule = NAMESPACE_RULES.find(({ tools }) => tools.some((pattern) => matchesPattern(name, pattern)));
  return rule ?? { namespace: NAMESPACE_WITHOUT_RULE, certainty: UNCERTAIN };
}

/** `*` stands for any characters, also none. */
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

import { PmlError } from "../../base/errors.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";
import { formatTable } from "../table.ts";

/** What pml_discover answers, as far as it is printed. */
interface Discovered {
  readonly results: readonly {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    readonly callName: string;
    readonly score: number;
    readonly description?: string;
    readonly why?: Readonly<Record<string, { readonly points: number; readonly text: string }>>;
    readonly warnings?: readonly string[];
  }[];
  readonly meta: { readonly searched: number; readonly matched: number; readonly ranking: string };
  readonly error?: { readonly message: string; readonly hint?: string };
}

export const discover: Command = {
  name: "discover",
  group: "Use",
  summary: "find tools and capabilities by what they are for",
  examples: [`pml discover "send a message to the team"`, `pml discover "parse CSV" --type capability --explain`],
  args: [{ name: "<intent>", description: "what you want to do, in English" }],
  options: [
    { flags: "--type <type>", description: "tool, capability, skill or all" },
    { flags: "--server <name>", description: "only tools of this server" },
    { flags: "--limit <number>", description: "how many, 10 when left out" },
    { flags: "--tag <tag...>", description: "context tags: what the task is like" },
    { flags: "--explain", description: "what each score is made of" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [intent = ""] = input.args;
    const { type = "all", server, limit = "10", tag = [], explain } = input.options;
    const request = {
      intent,
      filter: { type, ...(server === undefined ? {} : { server }) },
      limit: Number(limit),
      context_tags: tag,
      detail: "brief",
    };
    const daemon = await reachDaemon(input);
    const found = await withGateway(daemon, async (client) => {
      const { content } = await client.callTool({ name: "pml_discover", arguments: request });
      const [first] = content;
      return JSON.parse(first?.type === "text" ? first.text : "{}") as Discovered;
    });
    if (found.error !== undefined) {
      const { message, hint } = found.error;
      throw new PmlError("arguments_invalid", message, hint === undefined ? {} : { hint });
    }
    return { data: found, text: describe(found, explain === true), notes: describeMeta(found) };
  },
};

function describe({ results }: Discovered, explain: boolean): string {
  if (results.length === 0) return "Nothing fits";
  if (!explain) {
    return formatTable(
      results.map(({ score, type, name, callName, description = "" }) => ({
        score: score.toFixed(2),
        type,
        name: shownName({ type, name, callName }),
        description: description.split("\n")[0] ?? "",
      })),
    );
  }
  return results
    .map(({ score, type, name, callName, why = {}, warnings = [] }) => {
      const parts = Object.entries(why).map(([part, { points, text }]) => {
        const signed = `${points < 0 ? "" : "+"}${points.toFixed(2)}`;
        return `        ${part.padEnd(8)} ${signed.padStart(6)}  ${text}`;
      });
      return [
        `${score.toFixed(2)}  ${shownName({ type, name, callName })} (${type})`,
        ...parts,
        ...warnings.map((text) => `        ! ${text}`),
      ];
    })
    .flat()
    .join("\n");
}

const RANKINGS: Readonly<Record<string, string>> = {
  full: "by words and by the model",
  lite: "by words and word vectors (the model is not ready: pml index status)",
  lexical: "by words alone",
};

function describeMeta({ meta }: Discovered): string[] {
  return [`${meta.searched} searched, ranked ${RANKINGS[meta.ranking] ?? meta.ranking}`];
}

/** Capabilities under the name that people run them by. */
function shownName({
  type,
  name,
  callName,
}: Pick<Discovered["results"][number], "type" | "name" | "callName">): string {
  return type === "capability" ? name : callName;
}

import type { DiscoverAnswer } from "../../contract/discover.ts";
import { askGateway } from "../ask-registry.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatTable } from "../table.ts";

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
      detail: "full",
    };
    const daemon = await reachDaemon(input);
    const found = await askGateway(daemon, "pml_discover", request);
    return { data: found, text: describe(found, explain === true), notes: describeMeta(found) };
  },
};

function describe({ results }: DiscoverAnswer, explain: boolean): string {
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

const RANKINGS: Readonly<Record<DiscoverAnswer["meta"]["ranking"], string>> = {
  full: "by words and by the model",
  lite: "by words and word vectors (the model is not ready: pml index status)",
  lexical: "by words alone",
};

function describeMeta({ meta }: DiscoverAnswer): string[] {
  return [`${meta.searched} searched, ranked ${RANKINGS[meta.ranking]}`];
}

/** Picks the name that people use: a capability runs by its own. */
function shownName({
  type,
  name,
  callName,
}: Pick<DiscoverAnswer["results"][number], "type" | "name" | "callName">): string {
  return type === "capability" ? name : callName;
}

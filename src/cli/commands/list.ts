import { withoutUndefined } from "../../base/without-undefined.ts";
import type { QueryRequest, RecordBrief } from "../../contract/records.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import type { Command, OptionValues } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatRate, formatVersion, oneLine } from "../format-record.ts";
import { askGateway, type FromFlags } from "../ask-registry.ts";
import { formatTable } from "../table.ts";
import { PmlError } from "../../base/errors.ts";

const DEFAULT_LIMIT = 1_000;
const PAGE = 200;

export const list: Command = {
  name: "list",
  group: "Look",
  summary: "capabilities and other records, by name",
  examples: ["pml list --sort uses", "pml list fs: --json"],
  args: [{ name: "[filter]", description: "words of name or description; with * a pattern of names" }],
  options: [
    { flags: "--ns <namespace>", description: "only of this namespace" },
    { flags: "--type <type>", description: "capability (default) or mcp-server" },
    { flags: "--tag <tag...>", description: "only with all of these tags" },
    { flags: "--health <health>", description: "pending, green, red, flaky or rejected" },
    { flags: "--visibility <who>", description: "private, project, org or public" },
    { flags: "--unnamed", description: "only those without a name" },
    { flags: "--archived", description: "archived ones instead" },
    { flags: "--sort <by>", description: "name (default), uses or created" },
    { flags: "--limit <number>", description: "at most so many", parse: Number },
    noStartOption,
  ],
  async run(input) {
    const [filter] = input.args;
    const { records, total } = await readAll(await reachDaemon(input), toQuery(filter, input.options), input.options);
    const more = total > records.length ? [`${total - records.length} more: --limit ${total}`] : [];
    return {
      data: records,
      text: records.length === 0 ? "Nothing found" : formatTable(records.map(toRow)),
      notes: more,
    };
  },
};

type Query = FromFlags<QueryRequest>;

function toQuery(filter: string | undefined, options: OptionValues): Query {
  const { ns, type, tag, health, visibility, unnamed, archived, sort } = options;
  return withoutUndefined({
    namespace: ns,
    record_type: type ?? "capability",
    tags: tag,
    health,
    visibility,
    archived,
    pattern: unnamed === true ? "unnamed_*" : filter?.includes("*") === true ? filter : undefined,
    text: filter === undefined || filter.includes("*") ? undefined : filter,
    sort_by: sort === "uses" ? "usage" : sort,
  });
}

async function readAll(
  daemon: DaemonAddress,
  query: Query,
  { limit = DEFAULT_LIMIT }: OptionValues,
): Promise<{ records: RecordBrief[]; total: number }> {
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1)
    throw new PmlError("usage", "--limit must be a whole number", { hint: "For example: --limit 100" });
  const records: RecordBrief[] = [];
  let total = 0;
  for (let cursor: string | undefined; ;) {
    const wanted = Math.min(PAGE, most - records.length);
    const page = await askGateway(daemon, "dns:query", {
      ...query,
      limit: wanted,
      ...(cursor === undefined ? {} : { cursor }),
    });
    records.push(...page.records);
    total = page.total ?? total;
    if (page.next_cursor === null || records.length >= most) return { records, total };
    cursor = page.next_cursor;
  }
}

function toRow(record: RecordBrief): Record<string, string> {
  return {
    name: record.display_name,
    health: record.health,
    uses: String(record.usage_count),
    success: formatRate(record),
    avg: record.usage_count === 0 ? "-" : `${Math.round(record.avg_latency_ms)} ms`,
    version: formatVersion(record),
    description: oneLine(record.description).slice(0, 60),
  };
}

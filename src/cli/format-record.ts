import type { LookupAnswer, RecordBrief, WhoisAnswer } from "../contract/records.ts";
import { formatPairs } from "./table.ts";

type PermittedTool = WhoisAnswer["permission_set"][number];

export function describeLookup(record: LookupAnswer | WhoisAnswer): string {
  return formatPairs({
    name: record.display_name,
    fqdn: record.fqdn,
    type: record.type,
    version: formatVersion(record),
    description: oneLine(record.description),
    visibility: record.visibility,
    health: record.health,
    routing: record.routing,
    used: `${record.usage_count} times, ${formatRate(record)} ok`,
    ...(record.code_url === undefined ? {} : { code: record.code_url }),
    ...(record.registry_name === undefined ? {} : { registry: record.registry_name }),
  });
}

export function describeWhois(record: WhoisAnswer): string {
  const owned = {
    state: record.state,
    created: `${record.created_at} by ${record.created_by}`,
    updated: `${record.updated_at} by ${record.updated_by}`,
    tags: record.tags.join(", "),
    tools: record.tools_used.join(", "),
    "may call": record.permission_set.map(describePermitted).join(", "),
    aliases: record.aliases.join(", "),
    "forked from": record.forked_from ?? "",
    verified: record.verified ? "yes" : "no",
    signature: record.signature ?? "",
    "last used": record.last_used_at ?? "",
  };
  const said = Object.fromEntries(Object.entries(owned).filter(([, value]) => value !== ""));
  return `${describeLookup(record)}\n${formatPairs(said)}`;
}

function describePermitted({ tool, effect, allowed_by: by }: PermittedTool): string {
  return `${tool} (${effect}, allowed by a ${by})`;
}

export function formatRate({ usage_count: count, success_rate: rate }: RecordBrief): string {
  return count === 0 ? "-" : `${Math.round(rate * 100)} %`;
}

export function formatVersion({ version, version_tag: tag }: RecordBrief): string {
  return tag === null || tag === version || tag === `v${version}` ? String(version) : `${version} (${tag})`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

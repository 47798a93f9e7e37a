import type { z } from "zod";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import type { queryAnswer } from "../../../src/contract/records.ts";
import type { Sent } from "../../../src/contract/wire.ts";
import { tools } from "../../../src/contract/tools.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import type { RecordPage, RecordQuery } from "../../../src/registry/registry.ts";
import { describeBriefly } from "./describe-record.ts";
import { type DnsParts, json, reads } from "./dns-parts.ts";

/** Everything of an answer that is no record. */
const FRAME_BYTES = 1_000;

export function createQuery({ registry, scope, facts, maxResultBytes }: DnsParts): OwnTool {
  const describe = ({ records, nextCursor, total }: RecordPage): Sent<typeof queryAnswer> => ({
    records: records.map((record) => ({ ...describeBriefly(record), routing: facts.routingOf(record) })),
    total: total ?? null,
    next_cursor: nextCursor ?? null,
  });
  return defineTool({
    ...tools["dns:query"],
    title: "Search the registry",
    description: "Records by creator, tags, visibility, version and more; all conditions must hold.",
    annotations: reads,
    async run(input, context) {
      const asker = askerOf(scope, context);
      const query = toQuery(input);
      const page = describe(await registry.query(asker, query));
      const fitting = countFitting(page.records, maxResultBytes());
      if (fitting === page.records.length) return json(page);
      // records that a long result would lose come with the next page instead
      return json(describe(await registry.query(asker, { ...query, limit: fitting })));
    },
  });
}

/** Counts the records that fit into one answer, at least one. The text carries them as a JSON string. */
function countFitting(records: readonly unknown[], maxBytes: number): number {
  if (maxBytes === 0) return records.length;
  let left = maxBytes - FRAME_BYTES;
  const over = records.findIndex((record) => {
    left -= Buffer.byteLength(JSON.stringify(JSON.stringify(record)));
    return left < 0;
  });
  return over < 0 ? records.length : Math.max(1, over);
}

type QueryInput = z.output<(typeof tools)["dns:query"]["input"]>;

function toQuery(input: QueryInput): RecordQuery {
  const {
    created_by: createdBy,
    version_tag: tag,
    record_type: recordType,
    sort_by: sortBy,
    archived,
    ...rest
  } = input;
  const states = archived ? (["archived"] as const) : undefined;
  return withoutUndefined({ ...rest, createdBy, versionTag: tag, recordType, sortBy, states });
}

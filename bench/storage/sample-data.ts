/** A memory of ordinary size, the same on every engine and in every run. */
export const RECORD_COUNT = 10_000;
/** A record, its version, its counters and its source. */
export const ROW_COUNT = 4 * RECORD_COUNT;
export const JOURNAL_ROWS_PER_STATEMENT = 250;

export const ORG = "local";
/** One project: an export has a single scope. */
const PROJECT = "project-0";
export const SAMPLE_SCOPE = { org: ORG, project: PROJECT };
/** Coprime to the number of records, so that a walk in such steps visits all records but never neighbours in turn. */
const STRIDE = 7_919;

export interface RecordName {
  readonly project: string;
  readonly displayName: string;
}

/** Returns the name of the nth lookup. */
export function sampleName(lookup: number): RecordName {
  const index = (lookup * STRIDE) % RECORD_COUNT;
  return { project: PROJECT, displayName: `billing:send-invoice-${index}` };
}

export const RUN_ID = "01900000-0000-7000-9000-000000000000";

/** Creates rising ids, like UUIDv7, which decides how indexes grow. */
export function usageId(index: number): string {
  return `01900000-0000-7000-a000-${index.toString(16).padStart(12, "0")}`;
}

export function journalRows(batch: number): string {
  const first = batch * JOURNAL_ROWS_PER_STATEMENT;
  const rows = Array.from({ length: JOURNAL_ROWS_PER_STATEMENT }, (_, index) => ({
    seq: first + index,
    kind: index % 2 === 0 ? "call_started" : "call_finished",
    node_id: `n${index}`,
    tool_id: "billing:send",
    payload: { arguments: { customer: first + index, amount: 12.5, currency: "EUR" }, note: "x".repeat(120) },
  }));
  return JSON.stringify(rows);
}

const filler = (seed: string, words: number): string =>
  `(SELECT string_agg(md5(${seed} || i || k), ' ') FROM generate_series(1, ${words}) AS k)`;

const uuid = "('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid";
const time = "timestamptz '2026-01-01T00:00:00Z' + i * interval '61.000123 s'";

/** Generates the rows in the database, so that filling takes little time. */
export const seedSql = `
INSERT INTO capability_records (org, id, project, fqdn, display_name, namespace, action, hash, state, description,
  tags, created_at, updated_at)
SELECT '${ORG}', ${uuid}, '${PROJECT}',
  '${ORG}.${PROJECT}.billing.send-invoice-' || i, 'billing:send-invoice-' || i,
  'billing', 'send-invoice-' || i, md5('hash' || i), 'active', 'Sends invoice ' || ${filler("'description'", 3)},
  ARRAY['billing', 'tag-' || i % 50, 'tag-' || i % 7], ${time}, ${time}
FROM generate_series(0, ${RECORD_COUNT - 1}) AS i;

INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure,
  parameters_schema, tools_used, created_at)
SELECT '${ORG}', ${uuid}, 1, 'code', 'return await mcp.billing.send({ note: "' || ${filler("'code'", 16)} || '" })', md5('source' || i),
  jsonb_build_object('nodes', jsonb_build_array(jsonb_build_object('id', 'n1', 'tool', 'billing:send'),
    jsonb_build_object('id', 'n2', 'tool', 'mail:send-' || i % 40)), 'edges', '[["n1", "n2"]]'::jsonb),
  '{"type":"object","properties":{"customer":{"type":"string"},"amount":{"type":"number"}},"required":["customer"]}',
  ARRAY['billing:send', 'mail:send-' || i % 40], ${time}
FROM generate_series(0, ${RECORD_COUNT - 1}) AS i;

INSERT INTO capability_stat (org, record_id, usage_count, success_count, total_latency_ms, last_used_at)
SELECT '${ORG}', ${uuid}, 0, 0, 0, NULL FROM generate_series(0, ${RECORD_COUNT - 1}) AS i;

INSERT INTO capability_source (org, project, source_hash, record_id, version)
SELECT '${ORG}', '${PROJECT}', md5('source' || i), ${uuid}, 1 FROM generate_series(0, ${RECORD_COUNT - 1}) AS i;

ANALYZE;
`;

/** The run that measured writes refer to; not part of the exported memory. */
export const runSql = `INSERT INTO execution_run (org, id, project, state)
VALUES ('${ORG}', '${RUN_ID}', 'project-0', 'running')`;

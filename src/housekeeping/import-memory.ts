import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseClient, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { joinGroups, readBehaviourKeys } from "../registry/behaviour-store.ts";
import { lockNames } from "../registry/naming-store.ts";
import type { Scope } from "../registry/scope.ts";
import { bumpScope } from "../registry/scope-version-store.ts";
import type { Signing } from "../registry/signature.ts";
import { checkSignatures } from "./check-signatures.ts";
import type { DescribeSource } from "./import-facts.ts";
import { ImportPlan } from "./import-plan.ts";
import {
  detachOrphans,
  dropTakenAliases,
  type ImportJob,
  insertCounters,
  type Inserted,
  insertPrepared,
  insertSources,
} from "./import-store.ts";
import { prepareImport } from "./prepare-import.ts";
import { PreparedRows } from "./prepared-rows.ts";
import { analyzeTables, readSchemaVersion } from "./transfer-store.ts";
import { verifyExport } from "./verify-export.ts";

export interface MemoryImport {
  readonly rows: number;
  readonly added: number;
  /** Rows that were here already and stayed unchanged. */
  readonly kept: number;
  /** Rows that an import does not take, or computes itself. */
  readonly left_out: number;
  readonly rows_sha256: string;
  /** Sentences for the person who imports. */
  readonly notes: readonly string[];
}

export interface ImportOptions {
  readonly client: DatabaseClient;
  /** The scope of the caller: the only one that an import writes. */
  readonly scope: Scope;
  readonly signing: Signing;
  /** Accepts only versions that a trusted key signed. */
  readonly signatureRequired: boolean;
  readonly describe: DescribeSource;
  /** Computes statistics and the graph from the runs of the import. */
  readonly learn: (tx: Tx, scope: Scope, at: Date) => Promise<void>;
  /** Longest time that an imported result is kept. */
  readonly resultSeconds: number;
}

/**
 * Imports an export into the caller's scope. First checks the whole file, then computes every row to be written, then
 * writes them in one transaction.
 */
export async function importMemory(path: string, options: ImportOptions): Promise<MemoryImport> {
  const { client, scope, signing, signatureRequired } = options;
  const { header, footer, scope: from } = await verifyExport(path, checkSignatures(signing, signatureRequired));
  const schemaVersion = await readSchemaVersion(client.db);
  if (header.schema_version > schemaVersion) throw newerExport(header.schema_version, schemaVersion);
  const plan = new ImportPlan(scope, from ?? scope);
  const folder = await mkdtemp(join(tmpdir(), "pml-import-"));
  try {
    const prepared = new PreparedRows(folder);
    await prepareImport(path, { plan, prepared, ...options });
    const { added } = await write(options, { scope, rows: prepared, at: plan.now });
    if (added > 0) await analyzeTables(client.db);
    return {
      rows: footer.rows,
      added,
      kept: prepared.count - added,
      left_out: Math.max(0, footer.rows - prepared.count),
      rows_sha256: footer.rows_sha256,
      notes: plan.notes,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function write({ client, scope, learn }: ImportOptions, job: ImportJob): Promise<Inserted> {
  return client.db
    .transaction()
    .execute(async (tx) => {
      await lockNames(tx, scope);
      const inserted = await insertPrepared(tx, job);
      const { records } = inserted;
      await dropTakenAliases(tx, scope, records);
      await insertSources(tx, scope, records);
      await insertCounters(tx, scope, records);
      await joinGroups(tx, scope, await readBehaviourKeys(tx, scope, records));
      await detachOrphans(tx, job);
      await learn(tx, scope, job.at);
      if (inserted.added > 0) await bumpScope(tx, scope);
      return inserted;
    })
    .catch((error: unknown) => {
      throw conflictError(error);
    });
}

function newerExport(theirs: number, ours: number): PmlError {
  return new PmlError(
    "export_invalid",
    `The export has schema version ${theirs}, this PML knows ${ours}. Nothing was imported`,
    {
      hint: "Update PML here to the version that made the export: npm install pml@latest",
    },
  );
}

const UNIQUE_VIOLATION = "23505";

function conflictError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== UNIQUE_VIOLATION) return error;
  const detail = "detail" in error && typeof error.detail === "string" ? error.detail : error.message;
  return new PmlError(
    "import_conflict",
    `The import contradicts what is already stored: ${detail} Nothing was imported`,
    {
      hint: "Import into an empty PML_HOME, or rename one of the two first",
      cause: error,
    },
  );
}

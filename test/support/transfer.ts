import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importOptions, NO_TOOLS } from "../../src/app/open-transfer.ts";
import { mergeConfig } from "../../src/config/load-config.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { AnalysedPrograms } from "../../src/execution/analysed-programs.ts";
import type { ExportFooter } from "../../src/housekeeping/export-format.ts";
import { exportMemory } from "../../src/housekeeping/export-memory.ts";
import { importMemory, type MemoryImport } from "../../src/housekeeping/import-memory.ts";
import { DEFAULT_SCOPE, type Scope } from "../../src/registry/scope.ts";
import { NO_SIGNING } from "../../src/registry/signature.ts";
import { inThread } from "./analyser.ts";
import { makeFolder } from "./folder.ts";

export async function exportText(
  client: DatabaseClient,
  scope: Scope = DEFAULT_SCOPE,
): Promise<{ text: string; footer: ExportFooter }> {
  let text = "";
  const footer = await exportMemory(client, scope, async (lines) => {
    text += lines;
  });
  return { text, footer };
}

/** Imports a file as a gateway of the scope would. */
export function importPath(client: DatabaseClient, path: string, scope: Scope = DEFAULT_SCOPE): Promise<MemoryImport> {
  const config = { ...mergeConfig(undefined, {}, {}), scope };
  const analysed = new AnalysedPrograms(NO_TOOLS, inThread);
  return importMemory(path, importOptions({ config, client, signing: NO_SIGNING, analysed }));
}

export async function importText(client: DatabaseClient, text: string, scope?: Scope): Promise<MemoryImport> {
  await using folder = await makeFolder();
  const path = join(folder.path, "x.pml");
  await writeFile(path, text);
  return await importPath(client, path, scope);
}

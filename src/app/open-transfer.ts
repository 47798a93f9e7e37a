import { AnalysisThread } from "../analysis/analysis-thread.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/load-config.ts";
import type { DatabaseClient } from "../db/client.ts";
import { AnalysedPrograms } from "../execution/analysed-programs.ts";
import { importMemory, type ImportOptions, type MemoryImport } from "../housekeeping/import-memory.ts";
import { learnFromImport } from "../learning/imported-runs-store.ts";
import type { Signing } from "../registry/signature.ts";
import { createDescribe } from "./describe-import.ts";
import { openSigning } from "./open-signing.ts";
import { withServerDatabase } from "./server-database.ts";

interface TransferParts {
  readonly config: Config;
  readonly client: DatabaseClient;
  readonly signing: Signing;
  readonly analysed: AnalysedPrograms;
}

/** Binds imports to the scope and the rules of this gateway. */
export function importOptions({ config, client, signing, analysed }: TransferParts): ImportOptions {
  return {
    client,
    scope: config.scope,
    signing,
    signatureRequired: config.signing.required,
    describe: createDescribe(analysed),
    learn: learnFromImport,
    resultSeconds: config.results.ttlSeconds,
  };
}

/** A command has no servers: tools in programs keep the names that the text gives them. */
export const NO_TOOLS: Catalogue = {
  version: 0,
  tools: [],
  withheld: [],
  findTool: () => undefined,
  findById: () => undefined,
  onChange: () => () => undefined,
};

/** Imports into a server's database without a daemon, with the same checks. */
export async function importIntoServer(config: Config, url: string, path: string): Promise<MemoryImport> {
  const signing = openSigning(config);
  await using thread = new AnalysisThread(() => config.analysis);
  const analysed = new AnalysedPrograms(NO_TOOLS, {
    limits: () => ({ ...config.analysis, maxCodeBytes: config.sandbox.maxCodeBytes }),
    analyse: (code, tools) => thread.analyse(code, tools),
  });
  return await withServerDatabase(url, (client) =>
    importMemory(path, importOptions({ config, client, signing, analysed })),
  );
}

/**
 * Builds the data directory that a first start unpacks: initialised, migrated, checkpointed, closed. The same engine
 * version must build and open it, so it belongs to the package build.
 */
import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import { packTar } from "modern-tar/fs";
import { setEngineFlags } from "../src/base/engine-flags.ts";
import type { DatabaseClient } from "../src/db/client.ts";
import { migrate } from "../src/db/migrate.ts";
import { dataDirectory, openEmbedded } from "../src/db/open-embedded.ts";
import { acquireOwnership } from "../src/db/owner-lock.ts";
import { templatePath } from "../src/db/template.ts";
import { startJobs } from "../src/housekeeping/job-queue.ts";
import { packageRoot } from "../src/base/package-info.ts";

function rethrow(error: Error): never {
  throw error;
}

/** Changes with the archive: with the engine, the migrations, or this script. */
async function computeKey(): Promise<string> {
  const hash = createHash("sha256").update(await readFile(join(packageRoot, "package-lock.json")));
  const migrations = join(packageRoot, "src", "db", "migrations");
  for (const name of (await readdir(migrations)).toSorted()) hash.update(await readFile(join(migrations, name)));
  return hash.update(await readFile(import.meta.filename)).digest("hex");
}

async function createDataDirectory(home: string): Promise<void> {
  setEngineFlags();
  using ownership = acquireOwnership(home);
  await using client = await openEmbedded(ownership);
  await migrate(client.db);
  {
    await using _jobs = await startJobs({ client, jobs: [], onError: rethrow });
  }
  await client.execute("VACUUM (FREEZE, ANALYZE)");
  await dropTemplates(client);
}

/** Drops the template databases, which are half of all files of a new directory and never used here. */
async function dropTemplates(client: DatabaseClient): Promise<void> {
  await client.execute("UPDATE pg_database SET datistemplate = false");
  for (const name of ["template0", "template1"]) await client.execute(`DROP DATABASE ${name}`);
  await client.execute("CHECKPOINT");
}

async function buildTemplate(key: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "pml-template-"));
  try {
    await rm(templatePath(), { force: true }); // otherwise the new one would be unpacked from the old one
    await createDataDirectory(home);
    await mkdir(dirname(templatePath()), { recursive: true });
    const partial = `${templatePath()}.${process.pid}`;
    // A small window: unpacking takes as much memory, which stays in the daemon after a first start.
    const params = { [constants.ZSTD_c_compressionLevel]: 15, [constants.ZSTD_c_windowLog]: 17 };
    const compress = createZstdCompress({ params });
    await pipeline(packTar(dataDirectory(home)), compress, createWriteStream(partial));
    await rename(partial, templatePath());
    await writeFile(keyFile, key);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const keyFile = `${templatePath()}.key`;
const key = await computeKey();
const built = await readFile(keyFile, "utf8").catch(() => undefined);
if (built !== key || !existsSync(templatePath())) await buildTemplate(key);

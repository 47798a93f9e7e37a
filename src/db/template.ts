import { createReadStream } from "node:fs";
import { access, mkdir, open, readdir, readFile, rename, rm, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { unpackTar } from "modern-tar/fs";
import { PmlError } from "../base/errors.ts";
import { packageRoot } from "../base/package-info.ts";

/** The major version of PostgreSQL that the pinned PGlite is built from. */
export const ENGINE_MAJOR = "18";

/** A migrated, empty data directory that ships with the package. Creating one takes seconds and a gigabyte. */
export function templatePath(): string {
  return join(packageRoot, "dist", "pglite-template.tar.zst");
}

/** Ensures that the engine can open the directory: checks its version, or unpacks the template. */
export async function prepareDataDirectory(directory: string): Promise<void> {
  await refuseNetworkFileSystem(dirname(directory));
  const found = await findEngineMajor(directory);
  if (found === undefined) await unpackTemplate(directory);
  else if (found !== ENGINE_MAJOR) throw engineMismatch(directory, found);
}

const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
]);

/** File locks and fsync are unreliable there, so two machines could own one directory. */
async function refuseNetworkFileSystem(home: string): Promise<void> {
  const kind = NETWORK_FILE_SYSTEMS.get((await statfs(home)).type);
  if (kind === undefined) return;
  throw new PmlError(
    "store_unusable",
    `${home} is on a network file system (${kind}), where one owner cannot be assured`,
    {
      hint: "Choose a local directory (PML_HOME=/local/dir pml serve) or a PostgreSQL server: pml serve --pg postgres://…",
      details: { home, kind },
    },
  );
}

export async function findEngineMajor(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(directory, "PG_VERSION"), "utf8")).trim();
  } catch (error) {
    if (isNodeError(error, "ENOENT")) return undefined;
    throw unusableDirectory(directory, error);
  }
}

async function unpackTemplate(directory: string): Promise<void> {
  const partial = `${directory}.partial`;
  try {
    if (!(await exists(templatePath()))) {
      // the engine then initialises the directory itself, and would leave it open to other users
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return;
    }
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await pipeline(createReadStream(templatePath()), createZstdDecompress(), unpackTar(partial));
    await syncTree(partial);
    await setAside(directory);
    await rename(partial, directory);
    await syncPath(dirname(directory));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw unusableDirectory(directory, error);
  }
}

/** Renames a directory without PG_VERSION: it is no database, but its content is not ours to delete. */
async function setAside(directory: string): Promise<void> {
  if (await exists(directory)) await rename(directory, `${directory}.incomplete-${Date.now()}`);
}

/**
 * Syncs the content first: a rename may become durable before the renamed files, and a power cut would then leave a
 * torn directory.
 */
async function syncTree(root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = [root, ...entries.map((entry) => join(entry.parentPath, entry.name))];
  const next = paths.values();
  const syncRest = async (): Promise<void> => {
    for (const path of next) await syncPath(path);
  };
  await Promise.all([syncRest(), syncRest(), syncRest(), syncRest()]);
}

async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function isNodeError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function unusableDirectory(directory: string, cause: unknown): PmlError {
  if (isNodeError(cause, "ENOSPC")) {
    return new PmlError("disk_full", `No space left to create the database in ${directory}`, {
      hint: "Free about 100 MB, or choose another place: PML_HOME=/other/dir pml serve",
      cause,
    });
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PmlError("store_unusable", `Cannot use ${directory} for the database: ${reason}`, {
    hint: `Give yourself access to it (ls -ld ${dirname(directory)}), or choose another place: PML_HOME=/other/dir pml serve`,
    cause,
  });
}

function engineMismatch(directory: string, found: string): PmlError {
  return new PmlError(
    "engine_mismatch",
    `${directory} was written by engine version ${found}; this PML has version ${ENGINE_MAJOR}. Nothing was changed`,
    {
      hint:
        `Export it with the PML that wrote it (pml export -o memory.pml), move ${basename(directory)} away, ` +
        `then: pml import memory.pml. The newest automatic copy is in ${join(dirname(directory), "backups")}`,
      details: { directory, found, needed: ENGINE_MAJOR },
    },
  );
}

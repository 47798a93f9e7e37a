import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { dataDirectory } from "../../src/db/open-embedded.ts";
import { BARE_PGLITE, type Column, PML_PGLITE } from "./engine.ts";

const LOOK_EVERY_MS = 20;

/** Polls the size of an embedded database's WAL; the returned function stops that and returns the largest. */
export function watchWal(column: Column, location: string): (() => number) | undefined {
  const directory = findWal(column, location);
  if (directory === undefined) return undefined;
  let largest = 0;
  const look = (): void => void (largest = Math.max(largest, measureFiles(directory)));
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return largest;
  };
}

/** All databases of a server share its WAL, so there is no figure for one of them. */
function findWal(column: Column, location: string): string | undefined {
  if (column === PML_PGLITE) return join(dataDirectory(location), "pg_wal");
  return column === BARE_PGLITE ? join(location, "pg_wal") : undefined;
}

function measureFiles(directory: string): number {
  const sizes = readdirSync(directory).map((name) => {
    // A segment may be renamed or removed between the two calls.
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    return found?.isFile() === true ? found.size : 0;
  });
  return sizes.reduce((total, size) => total + size, 0);
}

import { join } from "node:path";
import { packageRoot } from "../../src/base/package-info.ts";

/** Returns a folder for costly downloads, kept between runs; deleting it is always safe. */
export function cacheFolder(name: string): string {
  return join(packageRoot, ".cache", name);
}

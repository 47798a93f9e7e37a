/** Packages that are too large to be dependencies: installed on demand into a cache folder. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "./cache-folder.ts";

/** Installs exactly these versions unless present, and returns the folder of the packages. */
export async function installPackages(name: string, packages: readonly string[]): Promise<string> {
  const folder = cacheFolder(name);
  const marker = join(folder, "installed.json");
  const wanted = JSON.stringify(packages);
  if (!existsSync(marker) || readFileSync(marker, "utf8") !== wanted) {
    mkdirSync(folder, { recursive: true });
    console.error(`installing ${packages.join(", ")} …`);
    const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await promisify(execFile)("npm", ["install", "--prefix", folder, ...options, ...packages]);
    writeFileSync(marker, wanted);
  }
  return join(folder, "node_modules");
}

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";

const manifest = findPackageJSON("..", import.meta.url);
if (manifest === undefined) throw new Error("PML runs from its package: package.json was not found above this file");

/** Root folder of the package, for sources and build alike. */
export const packageRoot = dirname(manifest);

export const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

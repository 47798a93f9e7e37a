/** Stores the results of scripts outside of the test suite for `npm run requirements`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../test/support/cache-folder.ts";
import type { TestEvidence } from "./requirement-coverage.ts";

const folder = cacheFolder("evidence");

export function writeEvidence(script: string, evidence: readonly TestEvidence[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${script}.json`), `${JSON.stringify(evidence, null, 2)}\n`);
}

export function readEvidence(): TestEvidence[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as TestEvidence[]);
}

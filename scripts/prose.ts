/**
 * Lists comments whose opening hides their subject (a free relative clause, a genitive), by the list in
 * `figures/comments.ts`.
 * `node scripts/prose.ts [folder or file …]` looks at those only.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { findProseProblem, readComments } from "./figures/comments.ts";

const root = resolve(import.meta.dirname, "..");
const FOLDERS = ["src", "lib", "scripts", "test", "bench"];

function listFiles(place: string): string[] {
  if (statSync(place).isFile()) return [place];
  return globSync("**/*.{ts,mjs,js}", { cwd: place }).map((file) => join(place, file));
}

const named = process.argv.slice(2);
const places = named.length > 0 ? named.map((place) => resolve(place)) : FOLDERS.map((folder) => join(root, folder));
const files = places.flatMap(listFiles).toSorted();
const problems = files.flatMap((file) =>
  readComments(file, readFileSync(file, "utf8"))
    .filter(({ text }) => findProseProblem(text) !== undefined)
    .map(({ line, text }) => `${relative(root, file)}:${line}: ${text.slice(0, 100)}`),
);
for (const problem of problems) console.log(problem);
console.log(`${files.length} files, ${problems.length} comments to reword`);
process.exitCode = problems.length > 0 ? 1 : 0;

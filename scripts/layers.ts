/** Checks every import of the product against the layer table. */
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { listImports, readSource } from "./figures/source-file.ts";
import { checkImport, findLayer } from "./layer-table.ts";

const root = resolve(import.meta.dirname, "..");
const files = globSync(["src/**/*.{ts,mjs}", "lib/**/*.ts"], { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts"),
);
const problems = files.flatMap((file) =>
  findLayer(file) === undefined
    ? [`${file} belongs to no layer: add it to scripts/layer-table.ts`]
    : listImports(readSource(root, file), "all").flatMap((target) => checkImport(file, target) ?? []),
);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} imports across the layers' lines`);
process.exitCode = problems.length > 0 ? 1 : 0;

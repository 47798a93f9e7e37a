/** Checks every import of the product against the layer table. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { checkImport, findLayer } from "./layer-table.ts";

const root = resolve(import.meta.dirname, "..");

/** Relative imports of a file, static and dynamic, as paths below the root. */
function readImports(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const { module } = parseSync(file, text);
  const statics = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  const reexports = module.staticExports.flatMap(({ entries }) =>
    entries.map(({ moduleRequest }) => moduleRequest?.value),
  );
  const dynamics = module.dynamicImports.map(({ moduleRequest }) =>
    text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
  );
  return [...statics, ...reexports, ...dynamics]
    .filter((request): request is string => request?.startsWith(".") === true)
    .map((request) => relative(root, resolve(root, dirname(file), request)));
}

const files = globSync(["src/**/*.{ts,mjs}", "lib/**/*.ts"], { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts"),
);
const problems = files.flatMap((file) =>
  findLayer(file) === undefined
    ? [`${file} belongs to no layer: add it to scripts/layer-table.ts`]
    : readImports(file).flatMap((target) => checkImport(file, target) ?? []),
);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} imports across the layers' lines`);
process.exitCode = problems.length > 0 ? 1 : 0;

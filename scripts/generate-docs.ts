/** Writes docs/reference from the schemas and tables of the product; with --check, lists outdated files. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { renderCliReference } from "./reference/cli-reference.ts";
import { renderConfigReference } from "./reference/config-reference.ts";
import { renderErrorReference } from "./reference/error-reference.ts";
import { renderOpenApi } from "./reference/openapi-reference.ts";

const folder = resolve(import.meta.dirname, "..", "docs", "reference");
const pages = {
  "cli.md": renderCliReference(),
  "config.md": renderConfigReference(),
  "errors.md": renderErrorReference(),
  "openapi.json": renderOpenApi(),
};

const stale = Object.entries(pages).filter(([name, text]) => {
  const path = join(folder, name);
  return !existsSync(path) || readFileSync(path, "utf8") !== text;
});
if (process.argv.includes("--check")) {
  for (const [name] of stale) console.error(`docs/reference/${name} is out of date. Run: npm run docs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [name, text] of stale) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote docs/reference/${name}`);
  }
}

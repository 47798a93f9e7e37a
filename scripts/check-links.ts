/**
 * Checks that links of the documents resolve, anchors included, and that the files they mention exist. Decisions
 * and measurements may mention files of their day; their links must resolve all the same.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { findAnchors, findFileNames, findLinks, findPaths } from "./links/document-references.ts";

const root = resolve(import.meta.dirname, "..");
const DATED = ["docs/decisions/", "docs/measurements/"];
const documents = globSync(["README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md", "{docs,src,models}/**/*.md"], {
  cwd: root,
});
const sources = new Set(
  globSync("{src,lib,test,scripts,bench}/**/*.{ts,mjs}", { cwd: root }).map((file) => basename(file)),
);

function checkLink(document: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(root, document) : resolve(root, dirname(document), path);
  if (!existsSync(target)) return `links to ${link}, which does not exist`;
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  if (findAnchors(readFileSync(target, "utf8")).has(anchor)) return undefined;
  return `links to ${link}, but that page has no such heading`;
}

function checkDocument(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const links = findLinks(text).flatMap((link) => checkLink(document, link) ?? []);
  if (DATED.some((folder) => document.startsWith(folder))) return links;
  const paths = findPaths(text).filter((path) => globSync(path, { cwd: root }).length === 0);
  const names = findFileNames(text).filter((name) => !sources.has(name));
  return [...links, ...[...paths, ...names].map((path) => `mentions ${path}, which does not exist`)];
}

const problems = documents
  .toSorted()
  .flatMap((document) => checkDocument(document).map((each) => `${document} ${each}`));
for (const problem of problems) console.error(problem);
console.log(`${documents.length} documents, ${problems.length} broken references`);
process.exitCode = problems.length > 0 ? 1 : 0;

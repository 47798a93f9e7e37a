/**
 * Figures of the source's shape, with their goals, as a table and in `.cache/figures.json`. `--check` exits with 1
 * when a goal is missed; `--list` names the places behind each figure.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { findProseProblem, readComments } from "./figures/comments.ts";
import { doubleCasts, functionLengths, importCycles, testClaims, typeNames } from "./figures/measure.ts";
import { readSource, type SourceFile } from "./figures/source-file.ts";
import { staleExceptions, toolIdSplits } from "./figures/tool-id-splits.ts";

interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly unit: "" | "%" | "lines";
  /** Highest value that meets the goal; undefined for a figure that is only watched. */
  readonly goal?: number;
  /** The places it counts. */
  readonly places: readonly string[];
}

const MOST_FUNCTION_LINES = 60;
const MOST_IDS = 6;
const root = resolve(import.meta.dirname, "..");

function read(...patterns: string[]): SourceFile[] {
  return globSync(patterns, { cwd: root })
    .toSorted()
    .map((path) => readSource(root, path));
}

const every = read("{src,lib,scripts,test,bench}/**/*.{ts,mjs,js}");
const product = every.filter(({ path }) => /^(src|lib)\//.test(path) && !path.endsWith(".test.ts"));

function counted(figure: string, places: readonly string[], goal?: number): Figure {
  return { figure, value: places.length, unit: "", places, ...(goal === undefined ? {} : { goal }) };
}

function share(part: number, whole: number): number {
  return Math.round((1_000 * part) / Math.max(whole, 1)) / 10;
}

function functionFigures(): Figure[] {
  const lengths = functionLengths(product);
  const at = (part: number): number => lengths[Math.floor((lengths.length - 1) * part)] ?? 0;
  const long = lengths.filter((length) => length > MOST_FUNCTION_LINES).length;
  const lines = { unit: "lines", places: [] } as const;
  return [
    { figure: "functions, p50", value: at(0.5), ...lines },
    { figure: "functions, p90", value: at(0.9), ...lines },
    { figure: "functions, longest", value: at(1), ...lines },
    { figure: "functions over 60 lines", value: share(long, lengths.length), unit: "%", goal: 0, places: [] },
  ];
}

function typeFigure(): Figure {
  const names = [...typeNames(product)];
  const twice = names.filter(([, paths]) => paths.length > 1);
  const places = twice.map(([name, paths]) => `${name}: ${paths.join(" ")}`);
  return { figure: "type names in two files", value: share(twice.length, names.length), unit: "%", goal: 2, places };
}

function proseFigure(): Figure {
  const comments = every.flatMap(({ path, text }) =>
    readComments(path, text).map((comment) => ({ ...comment, place: `${path}:${comment.line}` })),
  );
  const flagged = comments.filter(({ text }) => findProseProblem(text) !== undefined);
  const value = share(flagged.length, comments.length);
  const places = flagged.map(({ place, text }) => `${place} ${text.slice(0, 60)}`);
  return { figure: 'comments opening with What, Of …, or with "whoever"', value, unit: "%", goal: 3, places };
}

function sizeFigures(): Figure[] {
  const sized = every.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
  const over = (most: number): string[] =>
    sized.filter(({ lines }) => lines > most).map(({ path, lines }) => `${path} ${lines}`);
  return [counted("files over 300 lines", over(300)), counted("files over 450 lines", over(450), 0)];
}

function unusedExports(): string[] {
  const args = [join(root, "node_modules", "knip", "bin", "knip.js"), "--reporter", "json", "--no-exit-code"];
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 });
  const { issues } = JSON.parse(output) as { issues: Record<string, unknown>[] };
  return issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, found]) =>
      Array.isArray(found) ? found.map((each: { name?: string }) => `${String(file)} ${kind} ${each.name ?? ""}`) : [],
    ),
  );
}

function crowdedTests(): string[] {
  return every
    .filter(({ path }) => path.startsWith("test/acceptance/"))
    .flatMap(({ path, ...file }) => testClaims({ path, ...file }).map((claim) => ({ path, ...claim })))
    .filter(({ ids }) => ids.length > MOST_IDS)
    .map(({ path, name, ids }) => `${path} ${ids.length}: ${name}`);
}

function cycles(kind: "all" | "values"): string[] {
  return importCycles(product, kind).map((cycle) => cycle.join(" "));
}

const rootFiles = product.map(({ path }) => path).filter((path) => /^src\/[^/]+$/.test(path));
const figures: Figure[] = [
  ...functionFigures(),
  typeFigure(),
  counted("files at the root of src", rootFiles, 1),
  counted("tool ids split or joined by hand", toolIdSplits(product), 0),
  counted("exceptions to that without a file", staleExceptions(product), 0),
  counted("as unknown as", doubleCasts(product), 5),
  counted("as unknown as, in tests and scripts", doubleCasts(every.filter((file) => !product.includes(file)))),
  proseFigure(),
  counted("import cycles", cycles("values"), 0),
  counted("import cycles through types", cycles("all")),
  counted("exported or installed, but unused", unusedExports(), 0),
  ...sizeFigures(),
  counted("acceptance tests with more than six ids", crowdedTests(), 0),
];

const isMissed = ({ value, goal }: Figure): boolean => goal !== undefined && value > goal;
mkdirSync(cacheFolder(""), { recursive: true });
writeFileSync(cacheFolder("figures.json"), `${JSON.stringify(figures, null, 2)}\n`);
console.log("| figure | now | goal | |\n|---|---|---|---|");
for (const each of figures) {
  const goal = each.goal === undefined ? "" : `≤ ${each.goal} ${each.unit}`.trim();
  const verdict = each.goal === undefined ? "" : isMissed(each) ? "missed" : "met";
  console.log(`| ${each.figure} | ${`${each.value} ${each.unit}`.trim()} | ${goal} | ${verdict} |`);
}
if (process.argv.includes("--list"))
  for (const { figure, places } of figures.filter((each) => each.places.length > 0))
    console.log(`\n${figure}:\n  ${places.join("\n  ")}`);
if (process.argv.includes("--check")) process.exitCode = figures.some(isMissed) ? 1 : 0;

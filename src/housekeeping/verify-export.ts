import { createReadStream } from "node:fs";
import type { z } from "zod";
import { PmlError } from "../base/errors.ts";
import { splitLines } from "../base/lines.ts";
import type { Scope } from "../registry/scope.ts";
import {
  ExportDigest,
  type ExportFooter,
  type ExportHeader,
  footerSchema,
  headerSchema,
  invalidExport,
  splitRow,
} from "./export-format.ts";

/** Checks a row before anything is written; throws to refuse it. */
export type CheckRow = (table: string, row: ExportedRow) => void;

export type ExportedRow = Readonly<Record<string, unknown>>;

export interface VerifiedExport {
  readonly header: ExportHeader;
  readonly footer: ExportFooter;
  /** The scope of all its rows; undefined if it has none. */
  readonly scope: Scope | undefined;
}

/** Checks that a file is complete, unaltered, of one scope, and small enough line by line. */
export async function verifyExport(path: string, check: CheckRow = () => undefined): Promise<VerifiedExport> {
  const digest = new ExportDigest();
  const scopes = new ScopeCheck();
  let header: ExportHeader | undefined;
  // Handles each line one step late: the last one is the footer and not part of the checksum.
  let held: string | undefined;
  // Thrown last: for a damaged file the state of single rows is irrelevant.
  let refusal: Error | undefined;
  for await (const line of readLines(path)) {
    if (header === undefined) {
      header = parseLine(headerSchema, line, headerProblem(line));
      digest.addHeader(line);
      continue;
    }
    if (held !== undefined) {
      digest.addRow(held);
      refusal ??= tryRow(held, (table, row) => {
        scopes.add(row);
        check(table, row);
      });
    }
    held = line;
  }
  if (header === undefined || held === undefined) throw invalidExport("it is empty or ends after the header");
  const footer = parseLine(footerSchema, held, "it ends before the footer, so it was cut off");
  const actual = digest.finish();
  if (actual.rows !== footer.rows) throw invalidExport(`it has ${actual.rows} rows, its footer says ${footer.rows}`);
  if (actual.file_sha256 !== footer.file_sha256) throw invalidExport("its checksum does not fit its content");
  if (refusal !== undefined) throw refusal;
  return { header, footer, scope: scopes.only };
}

/** Yields the rows of a verified export. */
export async function* readExportRows(
  path: string,
): AsyncGenerator<{ readonly table: string; readonly row: ExportedRow }> {
  let first = true;
  for await (const line of readLines(path)) {
    // header and footer are objects, rows are arrays
    if (!first && !line.startsWith("{")) yield parseRowLine(line);
    first = false;
  }
}

function tryRow(line: string, check: CheckRow): Error | undefined {
  try {
    const { table, row } = parseRowLine(line);
    check(table, row);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Deeper than anything PML stores; the database's parser descends once per level. */
const DEEPEST = 256;
/** Larger than any result that is kept whole. */
const LONGEST_LINE = 64 * 1024 * 1024;
/** NUL and surrogates, which a database does not store and does not print. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

function parseRowLine(line: string): { readonly table: string; readonly row: ExportedRow } {
  const { table, row } = splitRow(line);
  if (depthOf(row) > DEEPEST) throw invalidExport(`a row of ${table} is nested deeper than ${DEEPEST} levels`);
  if (UNSTORABLE.test(row)) throw invalidExport(`a row of ${table} has characters that cannot be stored`);
  try {
    return { table, row: JSON.parse(row) as ExportedRow };
  } catch (cause) {
    throw invalidExport("a line is not JSON", cause);
  }
}

const [QUOTE, BACKSLASH] = ['"', "\\"];

/** Counts levels without parsing, in one pass over the text. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === QUOTE) index = endOfText(json, index);
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth -= 1;
  }
  return deepest;
}

/** Finds the closing quote: the first one that no odd number of backslashes precedes. */
function endOfText(json: string, start: number): number {
  let end = start;
  for (;;) {
    end = json.indexOf(QUOTE, end + 1);
    if (end < 0) return json.length;
    let escapes = 0;
    while (json[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}

/** Collects the scopes that rows name. A file of several says nothing about which of them is meant. */
class ScopeCheck {
  readonly #orgs = new Set<string>();
  readonly #projects = new Set<string>();

  add({ org, project }: ExportedRow): void {
    if (typeof org !== "string") throw invalidExport("a row has no organisation");
    this.#orgs.add(org);
    if (typeof project === "string") this.#projects.add(`${org}.${project}`);
    if (this.#orgs.size > 1 || this.#projects.size > 1) throw severalScopes([...this.#projects, ...this.#orgs]);
  }

  get only(): Scope | undefined {
    const [scope] = this.#projects;
    const [org] = this.#orgs;
    if (org === undefined || scope === undefined) return undefined;
    return { org, project: scope.slice(org.length + 1) };
  }
}

function severalScopes(names: readonly string[]): PmlError {
  return new PmlError(
    "import_conflict",
    `The file has rows of several scopes, at least ${names.slice(0, 2).join(" and ")}. Nothing was imported`,
    { hint: "Export each scope with a gateway of its own, and import the files one by one" },
  );
}

function headerProblem(line: string): string {
  return line.startsWith("\u001f")
    ? "it is compressed; unpack it first (gunzip)"
    : "it does not begin with the header of an export";
}

function readLines(path: string): AsyncGenerator<string> {
  return splitLines(refuseLongLines(createReadStream(path, "utf8")));
}

async function* refuseLongLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let held = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf("\n");
    held = end < 0 ? held + chunk.length : chunk.length - end - 1;
    if (held > LONGEST_LINE) throw invalidExport(`a line has more than ${LONGEST_LINE} characters`);
    yield chunk;
  }
}

function parseLine<T>(schema: z.ZodType<T>, line: string, otherwise: string): T {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw invalidExport(otherwise, cause);
  }
}

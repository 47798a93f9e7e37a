import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchSession } from "../support/benchmark.ts";
import type { SearchDocument } from "../../src/discovery/search.ts";

export interface DatasetQuery {
  readonly id: string;
  readonly text: string;
  readonly relevant: readonly string[];
}

export interface Dataset {
  readonly name: string;
  readonly documents: readonly SearchDocument[];
  readonly queries: readonly DatasetQuery[];
  /** Other queries over the same tools, for learning from use. */
  readonly train: readonly DatasetQuery[];
}

interface ToolLine {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly server?: string;
  readonly inputSchema?: { readonly properties?: Readonly<Record<string, { readonly description?: string }>> };
}

/** Opens the sets in the given folder; notes that nothing is measured without one. */
export function openDatasets(session: BenchSession): Dataset[] {
  if (session.data !== undefined) return readDatasets(session.data);
  session.note("Not measured: give a folder of sets with --data <folder>.");
  return [];
}

/** Reads every folder with `tools.jsonl` and `queries.jsonl`, in alphabetical order. */
function readDatasets(folder: string): Dataset[] {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}`);
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, "queries.jsonl")));
  return names.toSorted().map((name) => ({
    name,
    documents: readLines<ToolLine>(join(folder, name, "tools.jsonl")).map(toDocument),
    queries: readLines<DatasetQuery>(join(folder, name, "queries.jsonl")),
    train: readLines<DatasetQuery>(join(folder, name, "train.jsonl")),
  }));
}

function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}

function toDocument({ id, name, description = "", server = "", inputSchema }: ToolLine): SearchDocument {
  const parameters = Object.entries(inputSchema?.properties ?? {}).map(([parameter, { description: text = "" }]) => ({
    name: parameter,
    description: text,
  }));
  return { id, kind: "tool", server, name, description, parameters, tags: [] };
}

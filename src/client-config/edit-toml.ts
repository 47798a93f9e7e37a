import { parse, stringify } from "smol-toml";
import type { EntryPath, ServerEntry } from "../config/edit-json.ts";

export function readToml(text: string): Record<string, unknown> {
  return parse(text.replace(/^\uFEFF/, ""));
}

const HEADER = /^\s*\[{1,2}[^[\]]+\]{1,2}\s*(?:#.*)?$/;

/** Edits whole blocks of lines: a table can be replaced without parsing the others. */
export function editToml(text: string, path: EntryPath, entry: ServerEntry | undefined): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  const table = entry === undefined ? [] : printTable(path, entry).split("\n");
  const { start, end } = findTable(lines, path);
  if (start === undefined) {
    if (entry === undefined) return text;
    const rest = lines.join(eol).trimEnd();
    return `${rest}${rest === "" ? "" : eol.repeat(2)}${table.join(eol)}${eol}`;
  }
  // Removes the blank line that set the table apart, too.
  const from = entry === undefined && start > 0 && lines[start - 1]?.trim() === "" ? start - 1 : start;
  return [...lines.slice(0, from), ...table, ...lines.slice(end)].join(eol);
}

export function printTable([key, name]: EntryPath, entry: ServerEntry): string {
  return stringify({ [key]: { [name]: entry } }).trimEnd();
}

/** Finds the lines of a table and its subtables. Lines directly before the next table belong to that one. */
function findTable(lines: readonly string[], [key, name]: EntryPath): { start?: number; end: number } {
  const segment = `(?:${escape(name)}|"${escape(name)}"|'${escape(name)}')`;
  const own = new RegExp(String.raw`^\s*\[\s*${escape(key)}\s*\.\s*${segment}\s*[.\]]`);
  const start = lines.findIndex((line) => own.test(line));
  if (start === -1) return { end: lines.length };
  const next = lines.findIndex((line, index) => index > start && HEADER.test(line) && !own.test(line));
  let end = next === -1 ? lines.length : next;
  while (end > start + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? "")) end -= 1;
  return { start, end };
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

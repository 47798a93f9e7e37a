import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  modify,
  type Node,
  parse,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

/** A server in a configuration file, not validated. */
export type ServerEntry = Readonly<Record<string, unknown>>;
/** A value in a configuration file: a server, or a list of words. */
type Value = ServerEntry | readonly string[];
/** The key that holds the servers, and a server's name; or another key and one below it. */
export type EntryPath = readonly [key: string, name: string];

export function readJson(text: string): Record<string, unknown> {
  const errors: ParseError[] = [];
  const bare = text.replace(/^\uFEFF/, "");
  const value: unknown = bare.trim() === "" ? {} : parse(bare, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) throw new Error(`line ${lineAt(bare, error.offset)}: ${printParseErrorCode(error.error)}`);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it holds no JSON object");
  return value as Record<string, unknown>;
}

/**
 * Sets or removes one entry. Formats new text itself, in the style of the file, because the library's formatting would
 * rewrite the surrounding text.
 */
export function editJson(text: string, [key, name]: EntryPath, entry: Value | undefined): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const bare = text.trim() === "" ? "{}\n" : text.slice(mark.length);
  const tree = parseTree(bare, [], { allowTrailingComma: true });
  const servers = tree && findNodeAtLocation(tree, [key]);
  const present = tree && findNodeAtLocation(tree, [key, name]);
  if (tree === undefined) return text;
  if (entry === undefined)
    return mark + (present === undefined ? bare : applyEdits(bare, modify(bare, [key, name], undefined, {})));
  if (present !== undefined) return mark + applyEdits(bare, [replaceValue(bare, present, entry)]);
  if (servers !== undefined) return mark + applyEdits(bare, addProperty(bare, servers, { name, value: entry }));
  return mark + applyEdits(bare, addProperty(bare, tree, { name: key, value: { [name]: entry } }));
}

/** Sets or removes one value at any depth; text that was there stays as it is. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const bare = text.slice(mark.length);
  return mark + applyEdits(bare, modify(bare, [...path], value, {}));
}

interface Property {
  readonly name: string;
  readonly value: Value;
}

function replaceValue(text: string, node: Node, value: Value): Edit {
  const { offset, length } = node;
  return { offset, length, content: layOut(text, value, indentAt(text, offset)) };
}

/** Inserts after the last property, behind a comment in its line, or between empty braces. */
function addProperty(text: string, object: Node, { name, value }: Property): Edit[] {
  const eol = findEol(text);
  const close = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const outer = indentAt(text, object.offset);
  if (last === undefined) {
    const inner = outer + findUnit(text);
    const multiline = text.slice(object.offset, close).includes("\n");
    const content = `${eol}${inner}${print(text, { name, value }, inner)}${multiline ? "" : eol + outer}`;
    return [{ offset: object.offset + 1, length: 0, content }];
  }
  const end = last.offset + last.length;
  const lineEnd = text.indexOf(eol, end);
  if (lineEnd === -1 || lineEnd > close)
    return [{ offset: end, length: 0, content: `, ${JSON.stringify(name)}: ${JSON.stringify(value)}` }];
  const comma = /^\s*,/.test(text.slice(end));
  const inner = indentAt(text, last.offset);
  const content = `${eol}${inner}${print(text, { name, value }, inner)}${comma ? "," : ""}`;
  return [...(comma ? [] : [{ offset: end, length: 0, content: "," }]), { offset: lineEnd, length: 0, content }];
}

function print(text: string, { name, value }: Property, indent: string): string {
  return `${JSON.stringify(name)}: ${layOut(text, value, indent)}`;
}

function layOut(text: string, value: Value, indent: string): string {
  return JSON.stringify(value, undefined, findUnit(text))
    .split("\n")
    .join(findEol(text) + indent);
}

/** Returns one indentation step of the file. */
function findUnit(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

function findEol(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Returns the indentation of the line at an offset. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

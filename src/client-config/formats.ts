import { isDeepStrictEqual } from "node:util";
import { editJson, type EntryPath, readJson, type ServerEntry } from "../config/edit-json.ts";
import { editToml, printTable, readToml } from "./edit-toml.ts";

/** Reads and edits one file format; leaves all other bytes unchanged. */
export interface Format {
  /** Parses the file; throws a plain Error with the problem. */
  read(text: string): Record<string, unknown>;
  /** Sets one entry, or removes it if undefined. Throws if more than that would change. */
  edit(text: string, path: EntryPath, entry: ServerEntry | undefined): string;
  /** Formats an entry as the only one of a file. */
  print(path: EntryPath, entry: ServerEntry): string;
}

export const FORMATS: Readonly<Record<"json" | "toml", Format>> = {
  json: {
    read: readJson,
    edit: checkedEdit(readJson, editJson),
    print: ([key, name], entry) => JSON.stringify({ [key]: { [name]: entry } }, undefined, 2),
  },
  toml: { read: readToml, edit: checkedEdit(readToml, editToml), print: printTable },
};

/** Checks that nothing but the one entry differs; otherwise the editor does not support the file's style. */
function checkedEdit(read: Format["read"], edit: Format["edit"]): Format["edit"] {
  return (text, [key, name], entry) => {
    const before = read(text);
    const after = edit(text, [key, name], entry);
    const { [name]: _replaced, ...others } = Object(before[key] ?? {}) as Record<string, unknown>;
    const expected = { ...before, [key]: entry === undefined ? others : { ...others, [name]: entry } };
    if (!isDeepStrictEqual(plainCopy({ [key]: {}, ...readAgain(read, after) }), plainCopy(expected)))
      throw new Error(`its "${key}" is written in a way that PML does not change`);
    return after;
  };
}

function readAgain(read: Format["read"], text: string): Record<string, unknown> | undefined {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

/** Normalises prototypes and number types, which differ between parsers. */
function plainCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item)));
}

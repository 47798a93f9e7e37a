import { isDeepStrictEqual } from "node:util";
import { editJson, readJson } from "../config/edit-json.ts";
import { editToml, printTable, readToml } from "./edit-toml.ts";

type Entry = Readonly<Record<string, unknown>>;
/** The key that holds the servers, and a server's name. */
type Place = readonly [string, string];

/** Reads and edits one kind of file, with everything that is not touched left byte for byte. */
export interface Format {
  /** What the file holds; throws a plain Error that says what is wrong with it. */
  read(text: string): Record<string, unknown>;
  /** The text with one entry set, or removed where it is undefined. Throws where more than that would change. */
  edit(text: string, place: Place, entry: Entry | undefined): string;
  /** An entry as it stands in a file of its own. */
  print(place: Place, entry: Entry): string;
}

export const FORMATS: Readonly<Record<"json" | "toml", Format>> = {
  json: {
    read: readJson,
    edit: checkedEdit(readJson, editJson),
    print: ([key, name], entry) => JSON.stringify({ [key]: { [name]: entry } }, undefined, 2),
  },
  toml: { read: readToml, edit: checkedEdit(readToml, editToml), print: printTable },
};

/** Nothing but the one entry may differ, or the file is of a kind that the editing was not made for. */
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

/** Parsers differ in prototypes and number types, which do not matter here. */
function plainCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item)));
}

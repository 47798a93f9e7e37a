import { isObject, type JsonSchema } from "../base/json.ts";
import type { SearchDocument } from "./search.ts";
import { spellOut } from "./query-words.ts";

/** More of a description says little more, and costs time. */
export const MOST_DOCUMENT_PIECES = 126;
export const MOST_QUERY_PIECES = 254;

/** The parameters that a schema of arguments names. */
export function describeParameters(schema: JsonSchema | undefined): SearchDocument["parameters"] {
  const properties = schema?.["properties"];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const description = isObject(property) ? property["description"] : undefined;
    return { name, description: typeof description === "string" ? description : "" };
  });
}

/** What stands for a document where meaning is compared. */
export function toEmbeddedText({ server, name, description, parameters }: SearchDocument): string {
  // What follows a colon in a server's title is a description.
  const [title = ""] = server.split(":");
  const names = parameters.map((each) => spellOut(each.name)).join(", ");
  const subject = `${spellOut(title)} ${spellOut(name)}`.trim();
  return `${subject}: ${description}${names === "" ? "" : ` (${names})`}`;
}

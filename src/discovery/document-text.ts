import { isObject, type JsonSchema } from "../base/json.ts";
import type { SearchDocument } from "./search.ts";
import { spellOut } from "./query-words.ts";

/** Limit in word pieces: the rest of a description adds little and costs time. */
export const MAX_DOCUMENT_PIECES = 126;
export const MAX_QUERY_PIECES = 254;

/** Parameters in a schema of arguments. */
export function describeParameters(schema: JsonSchema | undefined): SearchDocument["parameters"] {
  const properties = schema?.["properties"];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const description = isObject(property) ? property["description"] : undefined;
    return { name, description: typeof description === "string" ? description : "" };
  });
}

/** Text of a document that gets embedded. */
export function toEmbeddedText({ server, name, description, parameters }: SearchDocument): string {
  // A server's title may continue with a description after a colon.
  const [title = ""] = server.split(":");
  const names = parameters.map((each) => spellOut(each.name)).join(", ");
  const subject = `${spellOut(title)} ${spellOut(name)}`.trim();
  return `${subject}: ${description}${names === "" ? "" : ` (${names})`}`;
}

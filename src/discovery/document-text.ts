import type { SearchDocument } from "./search.ts";
import { spellOut } from "./words.ts";

/** More of a description says little more, and costs time. */
export const MOST_DOCUMENT_PIECES = 126;
export const MOST_QUERY_PIECES = 254;

/** What stands for a document where meaning is compared. */
export function toEmbeddedText({ server, name, description, parameters }: SearchDocument): string {
  // What follows a colon in a server's title is a description.
  const [title = ""] = server.split(":");
  const names = parameters.map((each) => spellOut(each.name)).join(", ");
  const subject = `${spellOut(title)} ${spellOut(name)}`.trim();
  return `${subject}: ${description}${names === "" ? "" : ` (${names})`}`;
}

import type { Tool } from "@modelcontextprotocol/server";
import { shorten } from "../base/shorten.ts";

/** Longest description and title of a server's tool, prompt or resource that is shown; the rest is cut and marked. */
const LONGEST_DESCRIPTION = 8_192;
const LONGEST_TITLE = 256;
/** Largest definition of a tool, with its schemas; one with a larger definition is not offered. */
const LARGEST_DEFINITION = 256 * 1024;

interface Described {
  readonly description?: string | undefined;
  readonly title?: string | undefined;
}

/** Cuts texts of others: every client gets them with every list. */
export function shortenTexts<T extends Described>(item: T): T {
  const { description, title } = item;
  const isShort = (description?.length ?? 0) <= LONGEST_DESCRIPTION && (title?.length ?? 0) <= LONGEST_TITLE;
  if (isShort) return item;
  return {
    ...item,
    ...(description === undefined ? {} : { description: shorten(description, LONGEST_DESCRIPTION) }),
    ...(title === undefined ? {} : { title: shorten(title, LONGEST_TITLE) }),
  };
}

/** Describes a definition that is too large to be listed; undefined where it is not. */
export function findExcessiveDefinition(definition: Tool): string | undefined {
  const { length } = JSON.stringify(definition);
  return length > LARGEST_DEFINITION
    ? `its definition has ${length} characters, more than the ${LARGEST_DEFINITION} of a tool`
    : undefined;
}

/** Longest URI of a resource; the limit is far above that of browsers and servers. */
export const LONGEST_URI = 8_192;
/** A longer template is listed, but plain URIs are not compared with it. */
const LONGEST_TEMPLATE = 8_192;

export type UriMatcher = (uri: string) => boolean;

/**
 * Matches URIs that a template could make: its literal parts in order, with at least one character for each variable. Takes
 * time in proportion to the URI, whatever the template: the template is another's, and a regular expression could search
 * for centuries.
 */
export function createUriMatcher(template: string): UriMatcher {
  if (template.length > LONGEST_TEMPLATE) return () => false;
  const [first = "", ...parts] = splitTemplate(template);
  const last = parts.pop();
  if (last === undefined) return (uri) => uri === first;
  const searches = parts.map(createSearch);
  return (uri) => {
    if (uri.length > LONGEST_URI || !uri.startsWith(first) || !uri.endsWith(last)) return false;
    // The first occurrence leaves most room for the rest.
    let from = first.length;
    for (const search of searches) {
      const end = search(uri, from + 1);
      if (end === -1) return false;
      from = end;
    }
    return uri.length - last.length > from;
  };
}

/** Returns the literal parts around `{variables}`. */
function splitTemplate(template: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const open = template.indexOf("{", from);
    const close = open === -1 ? -1 : template.indexOf("}", open);
    if (close === -1) return [...parts, template.slice(from)];
    parts.push(template.slice(from, open));
    from = close + 1;
  }
}

/** Finds the end of the first occurrence (Knuth–Morris–Pratt); -1 if there is none. */
function createSearch(part: string): (text: string, from: number) => number {
  const fallback = new Uint16Array(part.length + 1);
  for (let at = 1, matched = 0; at < part.length; at += 1) {
    while (matched > 0 && part[at] !== part[matched]) matched = fallback[matched] ?? 0;
    if (part[at] === part[matched]) matched += 1;
    fallback[at + 1] = matched;
  }
  return (text, from) => {
    let matched = 0;
    if (part === "") return from <= text.length ? from : -1;
    for (let at = from; at < text.length; at += 1) {
      while (matched > 0 && text[at] !== part[matched]) matched = fallback[matched] ?? 0;
      if (text[at] === part[matched]) matched += 1;
      if (matched === part.length) return at + 1;
    }
    return -1;
  };
}

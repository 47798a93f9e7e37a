/** Replaces what PostgreSQL cannot store: zeros and lone surrogates, which untrusted text may have. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** A cheap test before the pattern; hits are rare. */
const ESCAPE = String.raw`\u`;
/** Escapes that jsonb rejects: NUL and lone surrogates, as JSON.stringify writes them. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** Formats a value as JSON for a jsonb column; replaces unstorable characters in texts and keys. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(ESCAPE) ? text.replace(UNSTORABLE, "$1\uFFFD") : text;
}

/** Returns the value as the database would return it; the same value if nothing has to be replaced. */
export function toStorable<T>(value: T): T {
  const text = JSON.stringify(value);
  const storable = storableJson(value);
  return storable === text ? value : (JSON.parse(storable) as T);
}

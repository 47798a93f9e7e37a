/** Replaces what PostgreSQL cannot store: zeros and lone surrogates, which untrusted text may have. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** Formats a value as JSON for a jsonb column. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "string" ? storableText(item) : item));
}

/** PostgreSQL has no place for zeros and half characters; text of a stranger may have both. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** As JSON text for a jsonb column. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "string" ? storableText(item) : item));
}

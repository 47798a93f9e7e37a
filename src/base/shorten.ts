/** Cuts a text to a number of characters, the mark of the cut included; never inside of a character. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

/**
 * Splits a stream of text at line feeds only. Node's readline also splits at U+2028 and U+2029,
 * which are legal inside JSON strings.
 */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of chunks) {
    const pieces = chunk.split("\n");
    for (const piece of pieces.slice(0, -1)) {
      parts.push(piece);
      yield parts.splice(0).join("");
    }
    parts.push(pieces.at(-1) ?? "");
  }
  const rest = parts.join("");
  if (rest !== "") yield rest;
}

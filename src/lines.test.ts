import { expect, test } from "vitest";
import { splitLines } from "./lines.ts";

async function* chunks(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

test("splitLines joins chunks and splits at line feeds only", async () => {
  const lines = await Array.fromAsync(splitLines(chunks("a", "b\nc\u2028", "d\r\n", "\ne")));
  expect(lines).toEqual(["ab", "c\u2028d\r", "", "e"]);
});

test("splitLines yields nothing for an empty stream", async () => {
  expect(await Array.fromAsync(splitLines(chunks("", "")))).toEqual([]);
});

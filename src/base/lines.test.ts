import { expect, test } from "vitest";
import { readLines, splitLines, WholeLines } from "./lines.ts";

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

test("WholeLines lets lines through when they are whole, however they are cut", () => {
  const text = "größe 😀\u2028\n\n[1]\r\nrest";
  const lines = new WholeLines();
  const read = [...Buffer.from(text)].flatMap((byte) => {
    const whole = lines.push(Buffer.from([byte]));
    return whole === undefined ? [] : [...readLines(whole)];
  });
  expect(read).toEqual(["größe 😀\u2028", "", "[1]\r"]);
  expect(lines.heldBytes).toBe(4);
  const whole = lines.push(Buffer.from(" of it\nand\nthe next"));
  expect(whole?.toString()).toBe("rest of it\nand\n");
  expect(lines.heldBytes).toBe(8);
});

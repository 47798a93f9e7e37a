import { expect, test } from "vitest";
import { mirrorStructured } from "./mirror-structured.ts";

const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;

test("mirrorStructured adds the structured content as text where there is no text", () => {
  expect(mirrorStructured({ content: [image], structuredContent: { a: 1 } }).content).toEqual([
    image,
    { type: "text", text: `{"a":1}` },
  ]);
});

test("mirrorStructured leaves results alone that have a text, or nothing structured", () => {
  const plain = { content: [image] };
  const told = { content: [{ type: "text" as const, text: "one" }], structuredContent: { a: 1 } };
  expect(mirrorStructured(plain)).toBe(plain);
  expect(mirrorStructured(told)).toBe(told);
});

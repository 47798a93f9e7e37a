import { expect, test } from "vitest";
import { renameContents } from "./rename-contents.ts";

test("renameContents gives what was read the name it was asked by, and leaves what else came with it", () => {
  const result = {
    contents: [
      { uri: "a", text: "1" },
      { uri: "a/b", text: "2" },
    ],
    _meta: { x: 1 },
  };
  expect(renameContents(result, "a", "pml+s:a")).toEqual({
    contents: [
      { uri: "pml+s:a", text: "1" },
      { uri: "a/b", text: "2" },
    ],
    _meta: { x: 1 },
  });
});

test("renameContents passes on a question, which has no contents", () => {
  const question = { resultType: "input_required", inputRequests: {} };
  expect(renameContents(question, "a", "pml+s:a")).toBe(question);
});

import { expect, test } from "vitest";
import { parseSource } from "./source-file.ts";
import { toolIdSplits } from "./tool-id-splits.ts";

test.each([
  'const [server] = id.split(":");',
  'const at = tool.indexOf(":");',
  "const id = `${server}:${tool}`;",
  'const id = [server, tool].join(":");',
  "const match = /^([^:]+):(.+)$/.exec(id);",
])("toolIdSplits finds %s", (text) => {
  expect(toolIdSplits([parseSource("src/gateway/x.ts", text)])).toEqual(["src/gateway/x.ts:1"]);
});

test.each([
  "const text = `${name}: ${problem}`;",
  'const parts = line.split(",");',
  "const scheme = /^https?:/;",
  'const name = "cap:fs";',
])("toolIdSplits leaves %s alone", (text) => {
  expect(toolIdSplits([parseSource("src/gateway/x.ts", text)])).toEqual([]);
});

test("toolIdSplits leaves the file alone that parses ids, and files whose colons are something else", () => {
  const text = "const id = `${server}:${tool}`;";
  const files = ["src/catalogue/tool-id.ts", "src/sandbox/guest/url.mjs"].map((path) => parseSource(path, text));
  expect(toolIdSplits(files)).toEqual([]);
});

import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { readStringLiteral } from "./string-literal.ts";

test.each([
  String.raw`plain`,
  String.raw`\x73k \u0073k \u{73}k \u{1F600} \uD83D\uDE00`,
  String.raw`\n\r\t\b\f\v\0 \\ \' \" \a \$`,
  "a\\\nb\\\r\nc\\\u2028d",
  String.raw`\\x73 \\\x73`,
])("readStringLiteral(%j) is what a program reads", (written) => {
  expect(readStringLiteral(written)).toBe(runInNewContext(`"use strict"; "${written.replaceAll('\\"', '\\"')}"`));
});

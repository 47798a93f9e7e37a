import { expect, test } from "vitest";
import { delexicalise } from "./delexicalise.ts";

test.each([
  ["Return #W6067464 via credit_card_4190576", "return id via id"],
  ["Exchange Notebook {'size': 'A6'} to {'size': 'A5'}", "exchange name options to options"],
  ['Write "hello world" into notes/today.md', "write text into file"],
  ["Write “hello” to `me` and 'you'", "write text to text and text"],
  ["Don't touch the user's files", "don't touch the user's files"],
  ["Mail ann.lee@example.com about https://example.com/a?b=1.", "mail mail about link"],
  ["List what changed since 2026-11-18T10:00:00Z", "list what changed since date"],
  ["Delete /var/log/app and ~/tmp", "delete file and file"],
  ["Pay $1,200.50 or 3 %", "pay number or number %"],
  ["Say hello to Ann Lee. Then stop, please, I beg", "say hello to name. then stop, please, i beg"],
  ["  two   spaces ", "two spaces"],
])("delexicalise(%j) is %j", (intent, expected) => {
  expect(delexicalise(intent)).toBe(expected);
});

test("tasks that differ in values alone read the same", () => {
  const one = delexicalise("Return #W6067464 for Ann Lee (19031) by 2026-01-02");
  expect(delexicalise("Return #W1 for Bob Kowalski (20171) by 2025-12-31")).toBe(one);
  expect(delexicalise("Cancel #W1 for Bob Kowalski (20171) by 2025-12-31")).not.toBe(one);
});

import { expect, test } from "vitest";
import { type DescribedEffect, seemsToRead } from "./read-like.ts";

const schema = (...names: string[]): DescribedEffect["inputSchema"] => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});

test.each<[string, DescribedEffect, boolean]>([
  ["name and text", { name: "list_issues", description: "Lists the issues of a repository." }, true],
  ["camel case", { name: "getUserById", description: "Returns one user.", inputSchema: schema("userId") }, true],
  ["things that are verbs, too", { name: "list_orders", description: "List all open orders." }, true],
  ["a verb that is a thing, too", { name: "get_lunch", description: "Orders lunch. Returns the bill." }, false],
  ["a verb before it", { name: "set_get", description: "Returns it." }, false],
  ["a verb far behind", { name: "my_own_get", description: "Returns it." }, false],
  ["a prefix of one word", { name: "crm_get_customer", description: "Get a customer." }, true],
  ["a name alone", { name: "get_issue" }, false],
  ["a text alone", { name: "issue", description: "Returns an issue." }, false],
  ["a text that changes", { name: "get_or_create", description: "Returns a list." }, false],
  ["a denial", { name: "get_issue", description: "Returns an issue. Does not delete it." }, false],
  ["a carrying argument", { name: "get_rows", description: "Returns rows.", inputSchema: schema("sql") }, false],
  ["an argument to write", { name: "get_x", description: "Returns x.", inputSchema: schema("newValue") }, false],
  ["a claim", { name: "get_x", description: "Returns x.", annotations: { destructiveHint: true } }, false],
  ["no words at all", { name: "取得", description: "" }, false],
])("seemsToRead judges %s", (_what, tool, expected) => {
  expect(seemsToRead(tool)).toBe(expected);
});

import { expect, test } from "vitest";
import type { Nameable } from "./nameable.ts";
import { proposeName } from "./propose-name.ts";
import { rateName, weighConfidence } from "./rate-name.ts";

function nameable(intent: string, tools: readonly string[], code = ""): Nameable {
  return { id: "1", currentName: "unnamed_00000000", intents: [intent], code, tools, parameters: [] };
}

test.each([
  ["read and parse JSON config file", ["filesystem:read_text_file"], "fs:read_json"],
  ["Please could you list all the open issues of a repository?", ["github:list_issues"], "api:list_open_issues"],
  ["convert a CSV file to JSON", ["filesystem:read_text_file"], "fs:csv_to_json"],
  ["how many orders are there per day", ["postgres:query"], "db:count_orders"],
  ["search the web for recent news about a company", ["tavily:search"], "api:search_news"],
  ["Heads up: prod is down. Restart the api deployment", ["kubernetes:kubectl_rollout"], "api:restart_api_deployment"],
  ["given a ticket number, create a branch for it", ["git:git_branch"], "git:create_branch"],
  ["flatten a nested object", [], "transform:flatten_nested_object"],
])("%s", (intent, tools, name) => {
  expect(proposeName(nameable(intent, tools)).name).toBe(name);
});

test("an empty intent leaves the name to the tools, with low confidence", () => {
  const proposed = proposeName(nameable("step 2", ["slack:slack_list_channels"]));
  expect(proposed.name).toBe("api:list_channels");
  expect(proposed.confidence).toBeLessThan(0.8);
  expect(proposed.reasoning).toContain('since the intent "step 2" does not say it');
});

test("the table of an SQL statement is the object of a query", () => {
  const code = 'return await mcp.postgres.query({ sql: "SELECT * FROM invoices" });';
  expect(proposeName(nameable("do it", ["postgres:query"], code)).name).toBe("db:query_invoices");
});

test("the intent with the highest confidence counts", () => {
  const several = { ...nameable("again", ["filesystem:read_text_file"]), intents: ["again", "read the license file"] };
  expect(proposeName(several).name).toBe("fs:read_license_file");
});

test("confidence is 0.3 for the tools, 0.3 for the intent and 0.4 for the form", () => {
  expect(weighConfidence({ tools: 1, intent: 0, pattern: 0 })).toBe(0.3);
  expect(weighConfidence({ tools: 0, intent: 1, pattern: 0 })).toBe(0.3);
  expect(weighConfidence({ tools: 0, intent: 0, pattern: 1 })).toBe(0.4);
  const code = "return await mcp.github.list_issues({});";
  expect(proposeName(nameable("list issues", ["github:list_issues"], code)).confidence).toBeGreaterThan(0.9);
});

test("rateName rates any name", () => {
  const program = nameable("list issues", ["github:list_issues"]);
  const rate = (name: string): number => weighConfidence(rateName(program, name));
  expect(rate("api:list_issues")).toBeGreaterThan(rate("fs:list_issues"));
  expect(rate("api:list_issues")).toBeGreaterThan(rate("api:do_stuff"));
  expect(rate("api:list_issues")).toBeGreaterThan(rate("wonder:list_issues"));
  expect(rate("not a name")).toBe(0);
});

test("a proposed name is legal for any words", () => {
  const long = `fetch ${"extraordinarily".repeat(3)} ${"complicated".repeat(2)} documentation`;
  for (const intent of [long, "日本語の意図", "!!!", "", "a__b--c", "list 'quoted' things"]) {
    const { name } = proposeName(nameable(intent, ["server:tool"]));
    expect(name).toMatch(/^[a-z][a-z0-9]*:[a-zA-Z][a-zA-Z0-9_-]*$/);
    expect(name.length).toBeLessThanOrEqual(50);
    expect(name).not.toContain("__");
  }
});

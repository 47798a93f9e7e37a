import { expect, test } from "vitest";
import { inferNamespace, matchesPattern } from "./namespace-rules.ts";

test.each([
  [["filesystem:read", "filesystem:write"], "fs"],
  [["http:fetch", "http:post"], "api"],
  [["sql:anything"], "db"],
  [["postgres:query"], "db"],
  [["git:git_log"], "git"],
  [["bash:exec"], "shell"],
  [["openai:chat_completion"], "ai"],
  [["acme-crm:create_contact"], "api"],
  [["acme:frobnicate"], "util"],
  [[], "util"],
])("%j speaks for %s", (tools, namespace) => {
  expect(inferNamespace(tools).namespace).toBe(namespace);
});

test("the majority of tools decides, and a tie goes to the more specific namespace", () => {
  expect(inferNamespace(["filesystem:read_file", "filesystem:write_file", "postgres:query"]).namespace).toBe("fs");
  expect(inferNamespace(["filesystem:read_file", "postgres:query"]).namespace).toBe("db");
});

test("tools of other namespaces lower the match", () => {
  const alone = inferNamespace(["filesystem:read_file"]).match;
  const mixed = inferNamespace(["filesystem:read_file", "filesystem:write_file", "postgres:query"]).match;
  expect(alone).toBe(1);
  expect(mixed).toBeLessThan(alone);
  expect(inferNamespace(["acme:frobnicate"]).match).toBeLessThan(0.5);
});

test("a pattern's stars match any characters, including none", () => {
  expect(matchesPattern("git:log", "git:*")).toBe(true);
  expect(matchesPattern("github:log", "git:*")).toBe(false);
  expect(matchesPattern("a:b", "a:b")).toBe(true);
  expect(matchesPattern("my-sql-server:run_query", "*sql*:*query")).toBe(true);
  expect(matchesPattern("aba", "ab*ba")).toBe(false);
});

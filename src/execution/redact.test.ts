import { expect, test } from "vitest";
import { looksSecret, redact } from "./redact.ts";

test.each([
  `sk-ant-${"api03".repeat(6)}`,
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "AKIAABCDEFGHIJKLMNOP",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
  "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
  "postgres://me:hunter2@db/app",
])("%s looks like a secret", (text) => {
  expect(looksSecret(`before ${text} after`)).toBe(true);
});

test.each([
  "sort by key",
  "a-perfectly-normal-file-name-that-is-long.json",
  "https://example.org/path?token",
  "3f786850e387550fdab836ed7e6dc881de23001b",
  "Bearer of bad news",
])("%s does not", (text) => {
  expect(looksSecret(text)).toBe(false);
});

test("redacts by key and by pattern, and nothing else", () => {
  const clean = { path: "a", nested: [{ monkey: "banana", tokens: 5 }] };
  expect(redact(clean)).toBe(clean);
  expect(redact({ apiKey: "x", user: { password: "y", name: "z" }, url: "ftp://a:b@c" })).toEqual({
    apiKey: "[redacted]",
    user: { password: "[redacted]", name: "z" },
    url: "ftp://a:[redacted]@c",
  });
});

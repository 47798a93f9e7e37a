import { expect, test } from "vitest";
import { redact } from "../base/log.ts";
import { replacePatterns } from "./secret-words.ts";

const hide = (text: string): string => replacePatterns(text, () => "‹hidden›");

test.each([
  ["postgres://app:pass-word@db/prod", "postgres://app:‹hidden›@db/prod"],
  ["see (https://u:p4ssw0rd@host)", "see (https://u:‹hidden›@host)"],
  ["token eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJlMTIz end", "token ‹hidden› end"],
  ["https://host/path:80@x", "https://host/path:80@x"],
])("%s", (text, shown) => {
  expect(hide(text)).toBe(shown);
});

/** Quadratic patterns take minutes for these, so the test would not end in time. */
test.each(["a-", "a.", "eyJaaaaaaaa-", "Bearer ", '"password', "-----BEGIN ", "a://b:", "sk_", "xoxb-"])(
  "a text of many times %s is searched once",
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    expect(hide(text).length).toBeGreaterThan(0);
    expect(redact(text, []).length).toBeGreaterThan(0);
  },
  20_000,
);

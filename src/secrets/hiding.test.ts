import { expect, test } from "vitest";
import { RunSecrets } from "./run-secrets.ts";
import { Secrets } from "./secrets.ts";

const HIDDEN = expect.stringMatching(/^‹secret, \d+ chars, #[0-9a-f]{12}›$/);

test.each([
  `sk-ant-${"api03".repeat(6)}`,
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "AKIAABCDEFGHIJKLMNOP",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
  "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
  "postgres://me:hunter2@db/app",
])("%s looks like a secret", (text) => {
  const secrets = new Secrets();
  expect(secrets.hideText(`before ${text} after`)).toMatch(/^before .*‹secret, \d+ chars, #[0-9a-f]{12}›.* after$/);
});

test.each([
  "sort by key",
  "a-perfectly-normal-file-name-that-is-long.json",
  "https://example.org/path?token",
  "3f786850e387550fdab836ed7e6dc881de23001b",
  "Bearer of bad news",
])("%s does not", (text) => {
  expect(new Secrets().hideText(text)).toBe(text);
});

test("hides by name and by pattern, and nothing else", () => {
  const run = new RunSecrets(new Secrets());
  const clean = { path: "a", nested: [{ monkey: "banana", tokens: 5 }] };
  expect(run.hide(clean)).toBe(clean);
  expect(
    run.hide({ apiKey: "x", user: { password: "y", name: "z" }, url: "ftp://a:b@c", credentials: { pin: "1" } }),
  ).toEqual({
    apiKey: HIDDEN,
    user: { password: HIDDEN, name: "z" },
    url: expect.stringMatching(/^ftp:\/\/a:‹secret, 1 chars, #[0-9a-f]{12}›@c$/),
    credentials: { pin: HIDDEN },
  });
});

test("knows values of the configuration in every usual spelling, but no ordinary words", () => {
  const secrets = new Secrets();
  secrets.know("server", ['hunter22-x"y', "production", "true", "1234567", "s3cr3t-v4lue"]);
  const run = new RunSecrets(secrets);
  const base64 = Buffer.from("s3cr3t-v4lue").toString("base64");
  for (const text of [
    "the value s3cr3t-v4lue",
    `in base64 ${base64}`,
    String.raw`in JSON "hunter22-x\"y"`,
    "in a URL ?q=s3cr3t%2dv4lue",
    String.raw`escaped s3cr3t\u002dv4lue`,
  ])
    expect(run.hide(text)).toContain("‹secret, ");
  const plain = "true in production with 1234567";
  expect(run.hide(plain)).toBe(plain);
  expect(run.hide({ "a s3cr3t-v4lue": 1 })).toEqual({ [`a ${secrets.placeholderOf("s3cr3t-v4lue")}`]: 1 });
});

test("a schema says which arguments are secret; short ones are hidden where they are the whole field", () => {
  const secrets = new Secrets();
  const run = new RunSecrets(secrets);
  const schema = {
    properties: {
      pin: { type: "string", format: "password" },
      code: { type: "number", writeOnly: true },
      box: { type: "object", properties: { key: { "x-secret": true } } },
    },
  };
  run.learn({ pin: "4711", code: 998877, box: { key: "open-sesame-1" }, note: "4711 times" }, schema);
  expect(run.hide({ echoed: "4711", note: "4711 times", n: 998877, log: "key=open-sesame-1" })).toEqual({
    echoed: secrets.placeholderOf("4711"),
    note: "4711 times",
    n: secrets.placeholderOf("998877"),
    log: `key=${secrets.placeholderOf("open-sesame-1")}`,
  });
});

test("sealed values come back in their places, for the same run only", () => {
  const secrets = new Secrets();
  const run = new RunSecrets(secrets);
  const args = { password: "hunter22-x", list: ["Bearer hunter22-x", 7], "k hunter22-x": null };
  const { value, sealed = "" } = run.seal(args, ["run", "1"]);
  expect(JSON.stringify([value, sealed])).not.toContain("hunter22-x");
  const again = new RunSecrets(secrets);
  expect(() => again.open(sealed, ["run", "2"])).toThrow("altered");
  again.open(sealed, ["run", "1"]);
  expect(again.restore(value)).toEqual(args);
  expect(again.hide("hunter22-x")).toBe(secrets.placeholderOf("hunter22-x"));
  expect(run.seal({ path: "a" }, ["run", "1"])).toEqual({ value: { path: "a" } });
});

import { randomBytes } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { createSeal } from "./seal.ts";
import { resolveSecretKey, secretKeyFile } from "./secret-key.ts";

const context = ["local", "default", "docs"];

test("createSeal opens its own ciphertext, which differs each time and does not contain the secret", () => {
  const seal = createSeal(randomBytes(32));
  const sealed = [seal.seal("größe: s3cret", context), seal.seal("größe: s3cret", context)];
  expect(sealed.map((each) => seal.open(each, context))).toEqual(["größe: s3cret", "größe: s3cret"]);
  expect(sealed[0]).not.toBe(sealed[1]);
  expect(sealed.join("")).not.toMatch(/s3cret|größe/);
});

test("createSeal refuses another key, another context, and a single changed bit", () => {
  const seal = createSeal(randomBytes(32));
  const sealed = seal.seal("s3cret", context);
  expect(() => createSeal(randomBytes(32)).open(sealed, context)).toThrow("sealed with another key");
  expect(() => seal.open(sealed, ["local", "default", "other"])).toThrow("it was altered");
  const [version, keyId, data = ""] = sealed.split(".");
  for (let at = 0; at < Buffer.from(data, "base64url").length; at += 1) {
    const bytes = Buffer.from(data, "base64url");
    bytes[at]! ^= 1;
    expect(() => seal.open([version, keyId, bytes.toString("base64url")].join("."), context)).toThrow("altered");
  }
});

test("resolveSecretKey prefers the environment, then the file, then creates a private one", async () => {
  await using home = await makeFolder();
  const [one, two] = [randomBytes(32), randomBytes(32)];
  const file = join(home.path, "key");
  writeFileSync(file, `${two.toString("hex")}\n`);
  const sources = { value: one.toString("base64"), file, home: home.path, shared: true };
  expect(resolveSecretKey(sources)).toEqual(one);
  expect(resolveSecretKey({ ...sources, value: undefined })).toEqual(two);
  const own = { value: undefined, file: undefined, home: home.path, shared: false };
  expect(resolveSecretKey(own)).toEqual(resolveSecretKey(own));
  expect(statSync(secretKeyFile(home.path)).mode & 0o777).toBe(0o600);
});

test("resolveSecretKey names the missing setting", async () => {
  await using home = await makeFolder();
  const sources = { value: undefined, file: undefined, home: home.path, shared: true };
  expect(() => resolveSecretKey(sources)).toThrow(
    expect.objectContaining({ code: "secret_key_missing", hint: expect.stringContaining("PML_SECRET_KEY") }),
  );
  expect(() => resolveSecretKey({ ...sources, value: "too short" })).toThrow("PML_SECRET_KEY is not a key of 32 bytes");
  expect(() => resolveSecretKey({ ...sources, file: join(home.path, "none") })).toThrow("Cannot read secrets.keyFile");
});

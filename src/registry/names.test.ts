import { expect, test } from "vitest";
import { displayNameOf, formatFqdn, parseFqdn } from "./fqdn.ts";
import { checkName, parseReference, withSuffix } from "./names.ts";
import { checkVersionTag, parseSpecifier, pickVersion } from "./specifier.ts";

const lax = { strict: false, reserveDays: 30 };

test("checkName takes names apart, infers namespaces, and warns of unknown ones", () => {
  expect(checkName("fs:read_json", "util", lax)).toEqual({
    name: { displayName: "fs:read_json", namespace: "fs", action: "read_json" },
    warnings: [],
  });
  expect(checkName("my-config-reader", "filesystem", lax).name.namespace).toBe("filesystem");
  expect(checkName("xyz:read_file", "util", lax).warnings).toHaveLength(1);
});

test.each([
  "invalid name!",
  "fs:",
  ":read",
  "Fs:read",
  "fs:1st",
  "a__b",
  "fs:a__b",
  "x".repeat(51),
  "unnamed_1",
  "a:b:c",
  "",
])("checkName refuses %j", (name) => {
  expect(() => checkName(name, "util", lax)).toThrow(
    "Invalid capability name format. Expected: namespace:action_target",
  );
});

test("checkName with strict wants a standard namespace", () => {
  const strict = { ...lax, strict: true };
  expect(checkName("git:show_log", "util", strict).warnings).toEqual([]);
  expect(() => checkName("xyz:read_file", "util", strict)).toThrow('Unknown namespace "xyz"');
  expect(() => checkName("read_file", "util", strict)).toThrow("Expected: namespace:action_target");
});

test("FQDNs are taken apart and put together", () => {
  const fqdn = "acme.webapp.fs.read_json.a7f3";
  const parts = parseFqdn(fqdn);
  expect(parts).toEqual({ org: "acme", project: "webapp", namespace: "fs", action: "read_json", hash: "a7f3" });
  expect(parts && formatFqdn(parts)).toBe(fqdn);
  expect(parts && displayNameOf(parts)).toBe("fs:read_json");
  expect(parseFqdn("fs:read_json")).toBeUndefined();
});

test.each([
  ["cap:fs:read_json", { kind: "name", name: "fs:read_json", scope: undefined, specifier: { kind: "latest" } }],
  ["fs:read_json@latest", { kind: "name", name: "fs:read_json", specifier: { kind: "latest" } }],
  ["my-reader@v1", { kind: "name", name: "my-reader", specifier: { kind: "tag", parts: [1] } }],
  ["cap:acme.shared:fs:read_json", { kind: "name", name: "fs:read_json", scope: { org: "acme", project: "shared" } }],
  ["acme.web.fs.read.a7f3@v1.2.0", { kind: "fqdn", fqdn: "acme.web.fs.read.a7f3", specifier: { parts: [1, 2, 0] } }],
  ["acme.web.fs.read", { kind: "name", name: "fs:read", scope: { org: "acme", project: "web" } }],
  ["0192f7a0-0000-7000-8000-000000000000", { kind: "id" }],
])("parseReference of %s", (text, expected) => {
  expect(parseReference(text)).toMatchObject(expected);
});

const day = (text: string): Date => new Date(`${text}T12:00:00Z`);
const versions = [
  { version: 1, versionTag: undefined, createdAt: day("2025-12-20") },
  { version: 2, versionTag: "v1.9.0", createdAt: day("2025-12-21") },
  { version: 3, versionTag: "v1.10.0", createdAt: new Date("2025-12-22T23:59:59.999Z") },
  { version: 4, versionTag: "v2.0.0-rc.1", createdAt: day("2025-12-24") },
  { version: 5, versionTag: undefined, createdAt: day("2025-12-25") },
];

test.each([
  ["latest", 5],
  ["v1", 3],
  ["v1.9", 2],
  ["v1.9.0", 2],
  ["v2", 4],
  ["v5", 5],
  ["2025-12-22", 3],
  ["2025-12-23", 3],
  ["2026-01-01", 5],
])("@%s picks version %i", (text, expected) => {
  expect(pickVersion(parseSpecifier(text), { name: "fs:read_json", current: 5, versions })).toBe(expected);
});

test.each(["v6", "v1.2.0", "2025-12-19", "2025-13-99", "newest"])("@%s is not found, in these words", (text) => {
  const pick = (): number => pickVersion(parseSpecifier(text), { name: "fs:read_json", current: 5, versions });
  expect(pick).toThrow(`Version ${text} not found for fs:read_json`);
});

test("version tags are semantic versions", () => {
  expect(checkVersionTag("1.2.0")).toBe("v1.2.0");
  expect(() => checkVersionTag("newest")).toThrow('"newest" is no version tag');
});

test("a suffix keeps names short enough", () => {
  expect(withSuffix("fs:read_json", 2)).toBe("fs:read_json_2");
  expect(withSuffix("x".repeat(50), 12)).toHaveLength(50);
});

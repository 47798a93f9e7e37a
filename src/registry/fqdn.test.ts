import { expect, test } from "vitest";
import { displayNameOf, formatFqdn, inferNamespace, isUnnamed, parseFqdn, parseShortFqdn, unnamed } from "./fqdn.ts";

const parts = { org: "acme", project: "webapp", namespace: "fs", action: "read_json", hash: "a7f3" };

test("an FQDN is made of its five parts and taken apart into them", () => {
  expect(formatFqdn(parts)).toBe("acme.webapp.fs.read_json.a7f3");
  expect(parseFqdn("acme.webapp.fs.read_json.a7f3")).toEqual(parts);
  expect(displayNameOf(parts)).toBe("fs:read_json");
});

test.each(["", "acme", "acme.webapp.fs.read_json", "acme.webapp.fs.read_json.a7f3.more", "acme..fs.read_json.a7f3"])(
  "%j is no FQDN",
  (text) => {
    expect(parseFqdn(text)).toBeUndefined();
  },
);

test("parseShortFqdn accepts an FQDN without a hash", () => {
  expect(parseShortFqdn("acme.webapp.fs.read_json")).toMatchObject({ project: "webapp", action: "read_json" });
  expect(parseShortFqdn("acme.webapp.fs.read_json.a7f3")).toBeUndefined();
});

test("unnamed derives a name from the source hash, with a longer prefix on request", () => {
  const hash = "0123456789abcdef";
  const tools = ["File-System:read", "file-system:write", "git:log"];
  expect(unnamed(hash, tools)).toEqual({
    displayName: "unnamed_01234567",
    namespace: "filesystem",
    action: "exec_01234567",
  });
  expect(unnamed(hash, [], 16)).toMatchObject({ displayName: `unnamed_${hash}`, namespace: "util" });
  expect([isUnnamed("unnamed_01234567"), isUnnamed("fs:unnamed_1")]).toEqual([true, false]);
});

test("a namespace is the server that most tools are of, the first by name among equals", () => {
  expect(inferNamespace(["git:log", "fs:read", "fs:write"])).toBe("fs");
  expect(inferNamespace(["git:log", "fs:read"])).toBe("fs");
  expect(inferNamespace(["9p:read"])).toBe("util");
});

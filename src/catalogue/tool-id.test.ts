import { expect, test } from "vitest";
import {
  formatCallName,
  formatCapabilityId,
  formatToolId,
  isToolOf,
  parseCallName,
  parseRef,
  parseToolId,
} from "./tool-id.ts";

test.each([
  ["fs:read", "fs", "read"],
  ["k8s:apps/v1:list", "k8s", "apps/v1:list"],
  ["fs:", "fs", ""],
  ["read", "", "read"],
])("parseToolId reads %j", (id, server, tool) => {
  expect(parseToolId(id)).toEqual({ kind: "tool", server, tool });
});

test("formatToolId and parseToolId are inverse, colons in the tool included", () => {
  const { server, tool } = parseToolId(formatToolId("a", "b:c"));
  expect([server, tool]).toEqual(["a", "b:c"]);
});

test("parseRef tells capabilities from tools", () => {
  expect(parseRef(formatCapabilityId("0190"))).toEqual({ kind: "capability", recordId: "0190" });
  expect(parseRef("fs:read")).toEqual({ kind: "tool", server: "fs", tool: "read" });
});

test("isToolOf compares the whole server name", () => {
  expect([isToolOf("fs:read", "fs"), isToolOf("fs2:read", "fs"), isToolOf("read", "fs")]).toEqual([true, false, false]);
});

test("parseCallName takes the prefix off, and only that", () => {
  expect(parseCallName(formatCallName("fs:read_json"))).toBe("fs:read_json");
  expect(parseCallName("fs:read_json")).toBe("fs:read_json");
});

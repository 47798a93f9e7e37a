import { expect, test } from "vitest";
import { clusterByTools } from "./clusters.ts";
import type { Nameable } from "./nameable.ts";
import { suggestNames } from "./suggest-names.ts";

function nameable(id: string, intent: string, tools = ["filesystem:read_text_file"]): Nameable {
  const code = "return JSON.parse((await mcp.filesystem.read_text_file({ path: args.path })).content);";
  return { id, currentName: `unnamed_${id}`, intents: [intent], code, tools, parameters: ["path"] };
}

const everythingFree = (): boolean => true;

test("names are distinct, and a variant has less confidence", () => {
  const [first, second, third] = suggestNames(
    [nameable("a", "read JSON file"), nameable("b", "read JSON config file"), nameable("c", "read JSON file")],
    everythingFree,
  );
  expect(new Set([first, second, third].map((each) => each?.suggestedName)).size).toBe(3);
  expect(first?.suggestedName).toBe("fs:read_json");
  expect(second?.confidence).toBeLessThan(first?.confidence ?? 0);
});

test("a taken name gets a qualifier, and then a number", () => {
  const taken = new Set(["fs:read_json"]);
  const suggest = (): string | undefined =>
    suggestNames([nameable("a", "read and parse JSON config file")], (_id, name) => !taken.has(name))[0]?.suggestedName;
  expect(suggest()).toBe("fs:read_json_config");
  taken.add("fs:read_json_config").add("fs:read_json_path").add("fs:read_json_file");
  expect(suggest()).toBe("fs:read_json_v2");
});

test("a rejected name is not proposed to the same capability again", () => {
  const [first, second] = suggestNames(
    [nameable("a", "read JSON"), nameable("b", "read JSON")],
    (id, name) => id !== "a" || name !== "fs:read_json",
  );
  const nameOf = new Map([first, second].map((each) => [each?.id, each?.suggestedName]));
  expect(nameOf.get("a")).not.toBe("fs:read_json");
  expect(nameOf.get("b")).toBe("fs:read_json");
});

test("a capability that already has the proposed name is skipped", () => {
  expect(suggestNames([{ ...nameable("a", "read JSON"), currentName: "fs:read_json" }], everythingFree)).toEqual([]);
});

test("programs with the same tools form a cluster", () => {
  const files = [nameable("a", "x"), nameable("c", "x")];
  const others = [nameable("b", "x", ["git:git_log", "git:git_tag"]), nameable("d", "x", ["git:git_log"])];
  const [a, c] = files;
  const [b, d] = others;
  const clusters = clusterByTools([a, b, c, d].filter((each) => each !== undefined));
  expect(clusters.map((cluster) => cluster.map(({ id }) => id))).toEqual([
    ["a", "c"],
    ["b", "d"],
  ]);
});

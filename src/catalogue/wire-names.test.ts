import { expect, test } from "vitest";
import { formatToolId } from "./tool-id.ts";
import { createNameTable, type NamedTool } from "./wire-names.ts";

function tools(server: string, names: readonly string[], transparent = false): NamedTool[] {
  return names.map((tool) => ({ server, tool, transparent }));
}

const hostile = [
  "a.b",
  "a-b",
  "a_b",
  "A_B",
  "x".repeat(200),
  `${"x".repeat(199)}y`,
  "größe/π",
  "日本語",
  "🙂",
  "1st",
  "__",
  "a:b",
  "read file",
];
const everything = [
  ...tools("everything", ["get-sum", "echo"]),
  ...tools("chaos", hostile),
  ...tools("other-one", hostile),
];

test("ordinary names are readable and reversible", () => {
  const table = createNameTable(everything);
  expect(table.wireName("everything:get-sum")).toBe("everything__get_sum");
  expect(table.resolve("everything__get_sum")).toEqual({ kind: "found", canonical: "everything:get-sum" });
  expect(table.resolve("everything:get-sum")).toEqual({ kind: "found", canonical: "everything:get-sum" });
});

test("hostile names become legal, distinct ones, also when case and punctuation are lost", () => {
  const table = createNameTable(everything);
  const wires = everything.map(({ server, tool }) => table.wireName(formatToolId(server, tool)));
  for (const wire of wires) expect(wire).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,49}$/);
  expect(new Set(wires.map((wire) => wire.toLowerCase())).size).toBe(everything.length);
});

test("every spelling of a name finds the tool it was made from", () => {
  const table = createNameTable(everything);
  for (const { server, tool } of everything) {
    const canonical = formatToolId(server, tool);
    const wire = table.wireName(canonical);
    for (const spelling of [canonical, wire, wire.toUpperCase(), wire.replaceAll("_", "-")]) {
      expect(table.resolve(spelling)).toEqual({ kind: "found", canonical });
    }
  }
});

test("names do not depend on which other servers are there, nor on the order", () => {
  const alone = createNameTable(tools("chaos", hostile));
  const among = createNameTable(everything.toReversed());
  for (const tool of hostile) expect(among.wireName(`chaos:${tool}`)).toBe(alone.wireName(`chaos:${tool}`));
});

test("a spelling that fits two tools is ambiguous and names them", () => {
  const table = createNameTable(tools("s", ["a.b", "a-b"]));
  expect(table.resolve("s__a_b")).toEqual({ kind: "ambiguous", candidates: ["s:a.b", "s:a-b"] });
  expect(table.resolve("s__nothing")).toEqual({ kind: "unknown" });
});

test("a server without prefix lists its own names, unless another one has them too", () => {
  const alone = createNameTable([...tools("one", ["run", "stop"], true), ...tools("two", ["run"])]);
  expect([alone.wireName("one:run"), alone.wireName("two:run")]).toEqual(["run", "two__run"]);
  const both = createNameTable([...tools("one", ["run", "stop"], true), ...tools("two", ["run"], true)]);
  expect(both.wireName("one:stop")).toBe("stop");
  expect(both.wireName("one:run")).toMatch(/^one__run_[a-z2-7]{7}$/);
  expect(both.wireName("two:run")).toMatch(/^two__run_[a-z2-7]{7}$/);
});

test("servers whose names differ in punctuation only, or by a leading digit, have names of their own", () => {
  const similar = ["a-b", "a--b", "1st", "n1st"];
  const table = createNameTable(similar.flatMap((server) => tools(server, ["run"])));
  const wires = similar.map((server) => table.wireName(`${server}:run`));
  expect([wires[0], wires[3]]).toEqual(["a_b__run", "n1st__run"]);
  expect(new Set(wires).size).toBe(4);
  for (const wire of wires) expect(wire).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,49}$/);
});

import { expect, test } from "vitest";
import { choiceFor, chooseListed, type ExposureSettings } from "./exposure.ts";

const named = (server: string, names: readonly string[]) => names.map((name) => ({ server, id: `${server}:${name}` }));
const offered = {
  core: 2,
  library: named("dns", ["lookup", "query"]),
  capabilities: named("cap", ["fs:z", "fs:a", "fs:m"]), // most used first
  tools: named("s", ["one", "two", "three"]),
};

const list = (settings: Partial<ExposureSettings>): string[] =>
  chooseListed(offered, { exposure: "auto", maxListedTools: 40, pinned: [], ...settings }).map(({ id }) => id);

test("auto lists everything, then all but the library, then what is pinned and used most", () => {
  const capabilities = ["cap:fs:a", "cap:fs:m", "cap:fs:z"];
  const tools = ["s:one", "s:two", "s:three"];
  expect(list({ maxListedTools: 10 })).toEqual([...capabilities, ...tools, "dns:lookup", "dns:query"]);
  expect(list({ maxListedTools: 9 })).toEqual([...capabilities, ...tools]);
  expect(list({ maxListedTools: 8, pinned: ["dns:query"] })).toEqual([...capabilities, "dns:query"]);
  expect(list({ maxListedTools: 5, pinned: ["s:two"] })).toEqual(["cap:fs:a", "cap:fs:z", "s:two"]);
});

test("the other ways of exposure", () => {
  expect(list({ exposure: "full", maxListedTools: 1 })).toHaveLength(8);
  expect(list({ exposure: "meta" })).toEqual([]);
  expect(list({ exposure: "pinned", pinned: ["cap:fs:m", "dns:*"] })).toEqual(["cap:fs:m", "dns:lookup", "dns:query"]);
});

test("no more capabilities are read than could be listed", () => {
  const settings = { exposure: "auto", maxListedTools: 40, pinned: ["cap:fs:a", "s:*"] } as const;
  expect(choiceFor(settings)).toEqual({ limit: 40, pinned: ["fs:a"] });
  expect(choiceFor({ ...settings, exposure: "pinned" })).toEqual({ limit: 0, pinned: ["fs:a"] });
  expect(choiceFor({ ...settings, exposure: "full" }).limit).toBeUndefined();
  expect(choiceFor({ ...settings, exposure: "meta", pinned: ["cap:*"] }).limit).toBeUndefined();
});

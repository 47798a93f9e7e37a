import { expect, test } from "vitest";
import { resolveHome } from "../config/environment.ts";
import { describeLaunch, isInNpxCache, startsPml } from "./launch.ts";

test("describeLaunch uses absolute paths, also where npx unpacked PML", () => {
  expect(describeLaunch({}, undefined, "/opt/pml")).toEqual({
    command: process.execPath,
    args: ["/opt/pml/bin/pml.js", "mcp"],
    env: {},
  });
  const unpacked = "/home/me/.npm/_npx/1a/node_modules/pml";
  expect(describeLaunch({}, undefined, unpacked).args).toEqual([`${unpacked}/bin/pml.js`, "mcp"]);
  expect([isInNpxCache(unpacked), isInNpxCache("/opt/pml")]).toEqual([true, false]);
});

test("describeLaunch passes PML_HOME and the configuration on to the client", () => {
  const { env } = describeLaunch({ PML_HOME: "/data/pml", PML_CONFIG: "/etc/pml.json" }, undefined);
  expect(env).toEqual({ PML_HOME: "/data/pml", PML_CONFIG: "/etc/pml.json" });
  expect(describeLaunch({ PML_HOME: resolveHome({}) }, "/x.json").env).toEqual({
    PML_CONFIG: "/x.json",
  });
});

test("startsPml recognises PML's entry", () => {
  expect(startsPml({ command: "node", args: ["/x/pml.js", "mcp"] })).toBe(true);
  for (const other of [undefined, "x", { url: "https://a/mcp" }, { command: "pml" }, { command: "npx", args: ["mcp"] }])
    expect(startsPml(other)).toBe(false);
});

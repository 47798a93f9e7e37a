import { expect, test } from "vitest";
import { legalName, planImport, type PlannedServer } from "./plan-import.ts";
import type { FoundServer } from "./read-servers.ts";

function found(name: string, raw: Record<string, unknown>): FoundServer {
  return { name, raw, file: "/f.json", project: undefined, dialect: "common", inputs: [], off: false };
}

interface Choices {
  readonly existing?: Record<string, unknown>;
  readonly only?: string[];
  readonly replace?: boolean;
}

function plan(servers: FoundServer[], { existing = {}, only, replace = false }: Choices = {}): PlannedServer[] {
  return planImport(servers, existing, { home: "/home/me", folder: "/work", only, replace, ownPorts: [7650] });
}

test.each([
  ["GitHub", "github"],
  ["My Server", "my-server"],
  ["a_b.c", "a-b-c"],
  ["-x-", "x"],
  ["東京", "server"],
  ["pml", "pml-server"],
  ["cap", "cap-server"],
  ["fine-1", "fine-1"],
])("legalName makes %j %j", (name, legal) => {
  expect(legalName(name)).toBe(legal);
});

test("planImport skips PML itself, however it is started", () => {
  const entries = [
    { command: "npx", args: ["-y", "pml", "mcp"] },
    { command: "/x/node", args: ["/y/bin/pml.js", "mcp"] },
    { command: ["pml", "mcp"], type: "local" },
    { command: "npx", args: ["-y", "pml@1.2.0", "mcp"] },
    { type: "http", url: "http://localhost:7650/mcp" },
    { httpUrl: "http://127.0.0.1:7650/mcp" },
  ];
  const planned = plan(entries.map((raw, index) => found(`n${index}`, raw)));
  expect(planned.map(({ action, reason }) => [action, reason])).toEqual(
    entries.map(() => ["skip", "it is PML itself"]),
  );
});

test("planImport skips equal entries, numbers differing ones, and repeats without effect", () => {
  const servers = [found("a", { command: "x" }), found("b", { command: "y" })];
  const first = plan(servers, { existing: { a: { command: "x" }, b: { command: "other" } } });
  expect(first.map(({ name, action, reason }) => [name, action, reason])).toEqual([
    ["a", "skip", "PML has it already"],
    ["b-2", "add", undefined],
  ]);
  expect(first[1]?.notes[0]).toContain("another b is there, which differs, so it is called b-2");
  const again = plan(servers, { existing: { a: { command: "x" }, b: { command: "other" }, "b-2": { command: "y" } } });
  expect(again.map(({ action, reason }) => [action, reason])).toEqual([
    ["skip", "PML has it already"],
    ["skip", "PML has it already, as b-2"],
  ]);
});

test("planImport overwrites with --replace, and still adds both of two files' servers of one name", () => {
  const existing = { a: { command: "old" } };
  const [only] = plan([found("a", { command: "new" })], { existing, replace: true });
  expect(only).toMatchObject({ name: "a", action: "replace", entry: { command: "new" } });
  const both = plan([found("a", { command: "1" }), found("A", { command: "2" })]);
  expect(both.map(({ name }) => name)).toEqual(["a", "A-2"]);
});

test("planImport filters by either name, and lists the known names for an unknown one", () => {
  const servers = [found("My Server", { command: "x" }), found("b", { command: "y" })];
  expect(plan(servers, { only: ["My Server"] })).toHaveLength(1);
  expect(plan(servers, { only: ["my-server", "b"] })).toHaveLength(2);
  expect(() => plan(servers, { only: ["c"] })).toThrow('No server "c" was found there');
});

test("planImport names the position of a secret, never its value", () => {
  const [planned] = plan([
    found("a", { command: "x", args: ["--token", "hunter2"], env: { API_KEY: "hunter2", LEVEL: "debug", T: "${T}" } }),
  ]);
  expect(planned?.entry?.env?.["API_KEY"]).toBe("hunter2");
  expect(planned?.notes).toEqual([
    "env.API_KEY holds a secret, which is copied as it is; safer is a variable, such as ${API_KEY}",
    "args[1] holds a secret, which is copied as it is; safer is a variable, such as ${NAME}",
  ]);
});

test("planImport skips an unusable entry and gives the reason", () => {
  const [neither, unknown] = plan([found("a", { foo: 1 }), found("b", { type: "ws", url: "ws://x" })]);
  expect(neither).toMatchObject({ action: "skip", reason: expect.stringContaining('needs either "command"') });
  expect(unknown).toMatchObject({ entry: { url: "ws://x", disabled: true } });
  expect(unknown?.notes[0]).toContain('PML knows no transport "ws"');
});

import { expect, test } from "vitest";
import { FORMATS } from "./formats.ts";

const { json, toml } = FORMATS;
const entry = { command: "/a b/node", args: ["C:\\pml.js", "mcp"] };

test("JSON edit adds and removes an entry without changing another byte", () => {
  const before = `// top\r\n{\r\n\t"a": 1, // one\r\n\t"mcpServers": {\r\n\t\t"x": { "command": "x" }, /* two */\r\n\t},\r\n}\r\n`;
  const after = json.edit(before, ["mcpServers", "pml"], { command: "c", args: ["mcp"] });
  expect(after).toBe(
    before.replace(
      "/* two */",
      `/* two */\r\n\t\t"pml": {\r\n\t\t\t"command": "c",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t},`,
    ),
  );
  const changed = json.edit(after, ["mcpServers", "pml"], { command: "d" });
  expect(changed).toBe(before.replace("/* two */", `/* two */\r\n\t\t"pml": {\r\n\t\t\t"command": "d"\r\n\t\t},`));
  const removed = json.edit(changed, ["mcpServers", "pml"], undefined);
  expect(json.read(removed)).toEqual(json.read(before));
});

test("JSON edit adds a missing comma, and keeps a file of one line on one line", () => {
  const file = `{\n    "mcpServers": {\n        "x": { "command": "x" } // last\n    }\n}\n`;
  expect(json.edit(file, ["mcpServers", "pml"], { command: "c" })).toBe(
    `{\n    "mcpServers": {\n        "x": { "command": "x" }, // last\n        "pml": {\n            "command": "c"\n        }\n    }\n}\n`,
  );
  expect(json.edit(`{"mcpServers":{"x":{"url":"u"}},"b":1}`, ["mcpServers", "pml"], { command: "c" })).toBe(
    `{"mcpServers":{"x":{"url":"u"}, "pml": {"command":"c"}},"b":1}`,
  );
  expect(json.edit(`{\n  "mcpServers": {},\n  "b": 1\n}`, ["mcpServers", "pml"], { command: "c" })).toBe(
    `{\n  "mcpServers": {\n    "pml": {\n      "command": "c"\n    }\n  },\n  "b": 1\n}`,
  );
});

test.each([
  ["nothing", ""],
  ["white space", " \n"],
  ["an empty object", "{}"],
  ["a byte order mark", "\uFEFF{}"],
  ["another key", `{"theme":"x"}`],
])("JSON edit adds an entry to a file with %s", (_name, before) => {
  const after = json.edit(before, ["servers", "pml"], entry);
  expect(json.read(after)).toMatchObject({ servers: { pml: entry } });
  expect(after.startsWith("\uFEFF")).toBe(before.startsWith("\uFEFF"));
});

test("JSON read refuses a broken file and one that is not an object", () => {
  expect(() => json.edit("[]", ["mcpServers", "pml"], entry)).toThrow("no JSON object");
  expect(() => json.edit(`{\n"a": `, ["mcpServers", "pml"], entry)).toThrow(/^line 2/);
  expect(() => json.edit(`{ "mcpServers": [] }`, ["mcpServers", "pml"], entry)).toThrow(
    "in a way that PML does not change",
  );
});

const CODEX = `# mine
model = "x"   # keep the spaces

[mcp_servers.a]
command = "a"
env = { K = "1" }

# about the profile
[profiles.fast]
model = "y"
`;

test("TOML edit adds, changes and removes a table without changing another line", () => {
  const added = toml.edit(CODEX, ["mcp_servers", "pml"], entry);
  expect(added.startsWith(CODEX)).toBe(true);
  expect(toml.read(added)).toMatchObject({ mcp_servers: { a: { command: "a" }, pml: entry } });
  const changed = toml.edit(added, ["mcp_servers", "pml"], { ...entry, command: "/other", env: { PML_HOME: "/x" } });
  expect(changed.startsWith(CODEX)).toBe(true);
  expect(toml.read(changed)).toMatchObject({ mcp_servers: { pml: { command: "/other", env: { PML_HOME: "/x" } } } });
  expect(toml.edit(changed, ["mcp_servers", "pml"], undefined)).toBe(CODEX);
});

test("TOML edit removes only the table in the middle and its subtables", () => {
  const middle = `a = 1\n\n[mcp_servers."pml"]\ncommand = "x"\nargs = [\n  "1",\n  "mcp",\n]\n\n[mcp_servers.pml.env]\nA = "1"\n\n# next\n[mcp_servers.pml2]\ncommand = "y"\n`;
  expect(toml.edit(middle, ["mcp_servers", "pml"], undefined)).toBe(
    `a = 1\n\n# next\n[mcp_servers.pml2]\ncommand = "y"\n`,
  );
});

test.each([
  ["an inline table", `mcp_servers = { a = { command = "a" } }\n`],
  ["a text that looks like a table", `[x]\ntext = """\n[mcp_servers.pml]\n"""\n[mcp_servers.pml]\ncommand = "x"\n`],
  ["dotted keys", `[mcp_servers]\npml.command = "x"\n`],
])("TOML edit refuses %s instead of damaging the file", (_name, text) => {
  expect(() => toml.edit(text, ["mcp_servers", "pml"], entry)).toThrow("in a way that PML does not change");
});

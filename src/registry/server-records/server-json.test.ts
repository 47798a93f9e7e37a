import { expect, test } from "vitest";
import { baseServers } from "./base-servers.ts";
import { describeConnected } from "./describe-connected.ts";
import { fromManifest, parseManifest } from "./package-manifest.ts";
import { parseServerJson, shortServerName } from "./server-json.ts";

const valid = { name: "com.example/weather", description: "Weather", version: "1.2.0" };
const npm = { registryType: "npm", identifier: "w", version: "1.2.0", transport: { type: "stdio" } };

test.each<[string, Record<string, unknown>]>([
  ["the least", {}],
  ["a package", { packages: [npm] }],
  ["a remote with a variable", { remotes: [{ type: "sse", url: "{base}/sse" }] }],
  ["fields of its own", { packages: [{ ...npm, more: 1 }], _meta: { "com.example": { a: 1 } } }],
  ["odd but exact versions", { version: "2026.8.31-beta+x" }],
])("parseServerJson takes %s", (_what, fields) => {
  expect(parseServerJson(JSON.stringify({ ...valid, ...fields }))).toEqual({ ...valid, ...fields });
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ["a name without a slash", { name: "weather" }, /name: must be a reverse domain/],
  ["two slashes", { name: "com.example/a/b" }, /name/],
  ["a long description", { description: "x".repeat(101) }, /description/],
  ["latest", { version: "latest" }, /version: must be one exact version/],
  ["a caret", { version: "^1.0.0" }, /version/],
  ["a wildcard", { version: "1.x" }, /version/],
  ["two bounds", { version: ">=1.0 <2" }, /version/],
  ["a range of a package", { packages: [{ ...npm, version: "~1.0.0" }] }, /packages\.0\.version/],
  ["no transport", { packages: [{ registryType: "npm", identifier: "w" }] }, /packages\.0\.transport/],
  ["an mcpb without hash", { packages: [{ ...npm, registryType: "mcpb" }] }, /fileSha256/],
  ["an argument without value", { packages: [{ ...npm, packageArguments: [{ type: "positional" }] }] }, /valueHint/],
  ["a remote over stdio", { remotes: [{ type: "stdio" }] }, /remotes\.0\.type/],
  ["a file URL", { remotes: [{ type: "sse", url: "file:///x" }] }, /remotes\.0\.url/],
  ["a subfolder outside", { repository: { url: "https://x.y", source: "github", subfolder: "../z" } }, /subfolder/],
])("parseServerJson refuses %s and names the field", (_what, fields, problem) => {
  expect(() => parseServerJson(JSON.stringify({ ...valid, ...fields }))).toThrow(problem);
});

test("parseServerJson refuses text that is not JSON", () => {
  expect(() => parseServerJson("{")).toThrow(/is not JSON/);
});

test("shortServerName drops affixes", () => {
  expect(shortServerName("io.github.modelcontextprotocol/server-filesystem")).toBe("filesystem");
  expect(shortServerName("io.github.cyanheads/git-mcp-server")).toBe("git");
  expect(shortServerName("com.supabase/mcp")).toBe("mcp");
  expect(shortServerName("a.b/Weather_API")).toBe("weather-api");
});

test("baseServers are valid and have an exact version", () => {
  for (const { document } of baseServers()) expect(parseServerJson(JSON.stringify(document))).toEqual(document);
  expect(baseServers().map(({ name }) => name)).toEqual(["filesystem", "shell", "sqlite"]);
});

test("fromManifest needs a mcpName", () => {
  const manifest = { name: "w", version: "1.0.0", repository: "git+https://github.com/a/b.git" };
  expect(() => fromManifest(manifest)).toThrow(/no "mcpName"/);
  expect(fromManifest({ ...manifest, mcpName: "com.a/b" })).toMatchObject({
    name: "com.a/b",
    repository: { url: "https://github.com/a/b", source: "github" },
    packages: [{ identifier: "w", version: "1.0.0" }],
  });
  expect(parseManifest("nothing")).toBeUndefined();
});

const scope = { org: "local", project: "default" };

test("describeConnected keeps arguments, variables and query strings to itself", () => {
  const info = { name: "W", version: "2.0.0" };
  const program = describeConnected(scope, {
    name: "w",
    entry: { command: "/opt/w", args: ["--key=hunter2"] },
    info,
  });
  const remote = describeConnected(scope, { name: "w", entry: { url: "https://u:p@x.test/mcp?key=hunter2" }, info });
  const runner = describeConnected(scope, {
    name: "w",
    entry: { command: "npx", args: ["-y", "@a/w@1.5.0", "hunter2"] },
    info,
  });
  expect(JSON.stringify([program, remote, runner])).not.toMatch(/hunter2|u:p/);
  expect(program).toMatchObject({ name: "local.default/w", title: "W", version: "2.0.0" });
  expect(remote.remotes).toEqual([{ type: "streamable-http", url: "https://x.test/mcp" }]);
  expect(runner.packages).toMatchObject([{ registryType: "npm", identifier: "@a/w", version: "1.5.0" }]);
  for (const each of [program, remote, runner]) expect(parseServerJson(JSON.stringify(each))).toEqual(each);
});

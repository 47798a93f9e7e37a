import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { startTenants } from "../support/tenant-gateways.ts";
import { servers } from "../support/upstream-servers.ts";

let work: Awaited<ReturnType<typeof makeFolder>>;
let home: GatewayHome;
let connected: TestClient;
let client: Client;

beforeAll(async () => {
  work = await makeFolder();
  home = await startGateway(
    { filesystem: servers.filesystem(work.path), mirror: servers.mirror() },
    { config: { registry: { baseUrl: "https://registry.example.com/" } } },
  );
  await home.ready("filesystem", "mirror");
  connected = await connectClient(home.path, { transport: "http", era: "auto" });
  ({ client } = connected);
});
afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await work[Symbol.asyncDispose]();
});

interface Looked {
  readonly type: string;
  readonly fqdn: string;
  readonly display_name: string;
  readonly version: string;
  readonly version_tag: string;
  readonly visibility: string;
  readonly code_url: string;
  readonly registry_name: string;
  readonly routing: string;
  readonly server_json: { readonly packages: { readonly identifier: string; readonly version: string }[] };
  readonly forked_from: string | null;
  readonly signature: string;
}

async function lookup(name: string): Promise<Looked> {
  const { value, isError, text } = await callJson<Looked>(client, "dns:lookup", { name });
  if (isError) throw new Error(text);
  return value;
}

/** Odd spacing shows whether the text is preserved byte for byte. */
function writeServerJson(version: string, fields: Record<string, unknown> = {}): string {
  const path = join(work.path, `weather-${version}.json`);
  const document = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "com.example/weather-mcp",
    description: "Weather",
    version,
    packages: [{ registryType: "npm", identifier: "weather", version, transport: { type: "stdio" } }],
    ...fields,
  };
  writeFileSync(path, `${JSON.stringify(document, null, 3).replace('"version"', '"version" ')}\n\n`);
  return path;
}

test("[FR060] [FR062] [13.14-AC3] [13.14-AC4] looking up a server tells its type, version, visibility and the address of its code", async () => {
  const filesystem = await lookup("mcp:filesystem");
  const { version } = filesystem.server_json.packages[0] ?? { version: "" };
  expect(filesystem).toMatchObject({
    type: "mcp-server",
    display_name: "mcp:filesystem",
    version,
    visibility: "public",
    registry_name: "io.github.modelcontextprotocol/server-filesystem",
    routing: "local",
    code_url: `https://registry.example.com/registry/mcp/filesystem/${version}/mod.ts`,
  });
  const gone = await callJson(client, "dns:lookup", { name: "mcp:nothing" });
  expect([gone.isError, gone.text]).toEqual([true, expect.stringContaining("Capability not found: mcp:nothing")]);

  // Without a configured address the gateway's own is used; it serves public records to everyone.
  const { url } = await runJson<{ url: string }>(["status"], { home: home.path });
  const fetched = await fetch(`${url}/registry/mcp/filesystem/${version}/mod.ts`);
  expect(fetched.headers.get("content-type")).toContain("typescript");
  const module = (await import(`data:text/javascript,${encodeURIComponent(await fetched.text())}`)) as {
    launch: { args: string[] };
  };
  expect(module.launch.args).toEqual(["-y", `@modelcontextprotocol/server-filesystem@${version}`]);
  expect((await fetch(`${url}/registry/mcp/filesystem/0.0.0/mod.ts`)).status).toBe(404);
});

test("[FR059] [13.14-AC1] [13.14-AC2] [13.14-AC7] filesystem, shell and sqlite are records of servers from the first start on, and a program is none", async () => {
  for (const name of ["filesystem", "shell", "sqlite"]) {
    const found = await lookup(`mcp:${name}`);
    expect(found).toMatchObject({ type: "mcp-server", display_name: `mcp:${name}`, visibility: "public" });
    expect(found.fqdn).toMatch(new RegExp(`^pml\\.std\\.mcp\\.${name}\\.[0-9a-f]{4}$`));
  }
  const { capabilityId } = await execute(client, { code: "return 'no server'" });
  let types: unknown[] = [];
  await until("the connected server has a record", async () => {
    const rows = (await exportedRows(home.path, "capability_records")).filter((row) => row["org"] === "local");
    const server = rows.find((row) => row["display_name"] === "mcp:mirror");
    types = [server?.["record_type"], rows.find((row) => row["id"] === capabilityId)?.["record_type"]];
    return server !== undefined;
  });
  expect(types).toEqual(["mcp-server", "capability"]);
});

test("connected servers have a record that has none of their arguments, and no capability can be mistaken for one", async () => {
  await until(
    "mirror has a record",
    async () => !(await callJson(client, "dns:lookup", { name: "mcp:mirror" })).isError,
  );
  const mirror = await lookup("mcp:mirror");
  expect(mirror).toMatchObject({ type: "mcp-server", visibility: "project", routing: "local" });
  expect(mirror.fqdn).toMatch(/^local\.default\.mcp\.mirror\.[0-9a-f]{4}$/);
  expect(JSON.stringify(mirror)).not.toContain("mirror-server.ts");
  const { url } = await runJson<{ url: string }>(["status"], { home: home.path });
  expect((await fetch(`${url}/registry/mcp/mirror/${mirror.version}/mod.ts`)).status).toBe(404);
  const run = await callJson(client, "pml_execute", { intent: "run a server", capability: "mcp:mirror" });
  expect(run.text).toContain("Capability not found: mcp:mirror");
});

test("[FR061] [13.14-AC5] versions of a server.json are kept byte for byte, found by @, and never change; after a restart too", async () => {
  const options = { home: home.path };
  const old = writeServerJson("1.2.0");
  const current = writeServerJson("1.10.0");
  expect(await runJson(["import", current, "--visibility", "org"], options)).toMatchObject({
    name: "mcp:weather",
    changed: true,
  });
  expect(await runJson(["import", old], options)).toMatchObject({
    name: "mcp:weather",
    version: "1.2.0",
    changed: true,
  });
  expect(await runJson(["import", old], options)).toMatchObject({ changed: false });
  const changed = await runPml(["import", writeServerJson("1.2.0", { description: "Other" })], options);
  expect([changed.code, changed.stderr]).toEqual([
    1,
    expect.stringContaining("1.2.0 is registered with another content"),
  ]);
  const wrong = await runPml(["import", writeServerJson("^2.0.0")], options);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("version: must be one exact version")]);

  await runPml(["down"], options);
  await runJson(["up"], options);
  await connected[Symbol.asyncDispose]();
  connected = await connectClient(home.path, { transport: "http", era: "auto" });
  ({ client } = connected);
  expect(await lookup("mcp:weather")).toMatchObject({ version: "1.10.0", visibility: "org" });
  expect(await lookup("mcp:weather@latest")).toMatchObject({ version: "1.10.0" });
  expect(await lookup("mcp:weather@v1.2.0")).toMatchObject({ version: "1.2.0", version_tag: "v1.2.0" });
  const missing = await callJson(client, "dns:lookup", { name: "mcp:weather@v5" });
  expect(missing.text).toContain("Version v5 not found for mcp:weather");
  const { stdout } = await runPml(["export", "mcp:weather@v1.10.0"], options);
  expect(stdout).toBe(`${readFileSync(current, "utf8")}\n`);
  const { value } = await callJson<{ versions: { diff: { code: string } | null }[] }>(client, "dns:history", {
    name: "mcp:weather",
  });
  expect(value.versions.map(({ diff }) => diff?.code.includes('1.2.0"') ?? null)).toEqual([true, null]);
});

test("an npm package that names itself in the registry is the same record", async () => {
  const path = join(work.path, "package.json");
  const manifest = { name: "weather", version: "1.11.0", description: "Weather", mcpName: "com.example/weather-mcp" };
  writeFileSync(path, JSON.stringify(manifest));
  const made = await runJson<{ name: string }>(["import", path], { home: home.path });
  expect(made).toMatchObject({ name: "mcp:weather", version: "1.11.0" });
  expect(await lookup("mcp:weather")).toMatchObject({ version: "1.11.0", registry_name: "com.example/weather-mcp" });
});

test("[13.14-AC8] a server can be forked into the project and says where it comes from", async () => {
  const { fqdn, version } = await lookup("mcp:filesystem");
  const { value } = await callJson<Looked>(client, "dns:fork", { source: "mcp:filesystem" });
  expect(value).toMatchObject({ type: "mcp-server", display_name: "mcp:filesystem", forked_from: fqdn });
  expect(value.fqdn).toMatch(/^local\.default\.mcp\.filesystem\.[0-9a-f]{4}$/);
  expect(await lookup("mcp:filesystem")).toMatchObject({ fqdn: value.fqdn, version, visibility: "private" });
  expect(await lookup(`mcp:filesystem@v${version}`)).toMatchObject({ fqdn: value.fqdn });
  expect(await lookup(fqdn)).toMatchObject({ fqdn, visibility: "public" });
});

test("[13.14-AC6] what is for an organisation is not there for another one, and what is public is", async () => {
  await using tenants = await startTenants("acme.default", "local.default");
  const [acme, local] = tenants.gateways;
  const register = (version: string, more: readonly string[]): Promise<unknown> =>
    runJson(["import", writeServerJson(version), ...more], { home: acme!.home.path });
  await register("1.0.0", ["--name", "secret", "--visibility", "org"]);
  const { value: secret } = await callJson<Looked>(acme!.client, "dns:lookup", { name: "mcp:secret" });
  expect(secret.fqdn).toMatch(/^acme\.default\.mcp\.secret\./);
  const [byName, byFqdn, absent] = await Promise.all(
    ["acme.default:mcp:secret", secret.fqdn, "acme.default.mcp.absent.0000"].map((name) =>
      callJson(local!.client, "dns:lookup", { name }),
    ),
  );
  expect([byName?.isError, byFqdn?.isError]).toEqual([true, true]);
  expect(byFqdn?.text.replace(secret.fqdn, "…")).toBe(absent?.text.replace("acme.default.mcp.absent.0000", "…"));
  const { value } = await callJson<{ records: { fqdn: string }[] }>(local!.client, "dns:query", {
    record_type: "mcp-server",
  });
  expect(value.records.filter(({ fqdn }) => fqdn.startsWith("acme."))).toEqual([]);
  expect(value.records.filter(({ fqdn }) => fqdn.startsWith("pml.std."))).toHaveLength(3);
});

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import type { Visibility } from "../../src/registry/record-words.ts";
import { share } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callCapability, callJson, listNames } from "../support/names-scene.ts";
import { runJson, runPml } from "../support/pml.ts";
import { startTenants, type TenantGateways } from "../support/tenant-gateways.ts";

let tenants: TenantGateways;
let [web, mobile, globex]: Client[] = [];
beforeAll(async () => {
  tenants = await startTenants("acme.webapp", "acme.mobile", "globex.shop");
  [web, mobile, globex] = tenants.gateways.map(({ client }) => client);
});
afterAll(() => tenants[Symbol.asyncDispose]());

interface Wanted extends Record<string, unknown> {
  readonly visibility?: Visibility;
}

/** Names a program as an agent, and shares it as the person of that gateway. */
const name = async (by: Client, wanted: string, { visibility = "private", ...more }: Wanted = {}): Promise<string> => {
  const made = await execute(by, { name: wanted, code: `return "${wanted} ${JSON.stringify(more).length}"`, ...more });
  expect(made).toMatchObject({ status: "success", capabilityName: wanted });
  const at = tenants.gateways.find(({ client }) => client === by);
  if (visibility !== "private") await share(at?.home.path ?? "", wanted, visibility);
  return made.capabilityFqdn;
};

const found = async (by: Client, query: Record<string, unknown>): Promise<string[]> => {
  const { value } = await callJson<{ records: { fqdn: string }[] }>(by, "dns:query", query);
  return value.records.map(({ fqdn }) => fqdn);
};

test("[TS-S1] a short name means that of the gateway's own organisation and project, and nobody else's", async () => {
  for (const [client, whose] of [
    [web, "acme.webapp"],
    [mobile, "acme.mobile"],
    [globex, "globex.shop"],
  ] as const) {
    const made = await execute(client!, { name: "fs:whose", code: `return "${whose}"` });
    expect(made.capabilityFqdn).toMatch(new RegExp(`^${whose}\\.fs\\.whose\\.`));
  }
  expect(await callCapability(web!, "cap:fs:whose")).toBe("acme.webapp");
  expect(await callCapability(mobile!, "cap:fs:whose")).toBe("acme.mobile");
  expect(await callCapability(globex!, "cap__fs__whose")).toBe("globex.shop");
  await name(globex!, "db:of_globex", { visibility: "public" });
  const foreign = await execute(web!, { capability: "db:of_globex" });
  expect(foreign.error?.message).toBe("Capability not found: db:of_globex");
  const taken = await execute(web!, { name: "fs:whose", code: "return 'again'" });
  expect(taken.error?.message).toContain("already exists in scope acme.webapp");
  // a run is hidden from other tenants, even by its id
  const waiting = await execute(web!, { code: "return 1" });
  const other = await execute(globex!, { continue_workflow: { workflow_id: waiting.workflowId } });
  expect(other.error?.code).toBe("run_not_found");
});

test("[DR2] [TS-O2] a name is one program's per organisation and project: elsewhere it is free, and stays somebody else's", async () => {
  for (const client of [web, mobile, globex]) {
    const made = await execute(client!, { name: "db:scoped", code: `return "once"` });
    expect(made).toMatchObject({ status: "success", capabilityName: "db:scoped" });
  }
  for (const [client, scope] of [
    [web, "acme.webapp"],
    [mobile, "acme.mobile"],
    [globex, "globex.shop"],
  ] as const) {
    const taken = await execute(client!, { name: "db:scoped", code: "return 'twice'" });
    expect(taken.error?.message).toContain(`'db:scoped' already exists in scope ${scope}`);
  }
  await callJson(web!, "dns:rename", { name: "db:scoped", newName: "db:scoped_web" });
  await callJson(web!, "learn:delete", { name: "db:scoped_web" });
  // A former name and a reserved one are those of their own project, too.
  for (const wanted of ["db:scoped", "db:scoped_web"]) {
    const again = await execute(web!, { name: wanted, code: `return "again ${wanted}"` });
    expect(again.status).toBe(wanted === "db:scoped" ? "success" : "error");
  }
  expect((await execute(mobile!, { name: "db:scoped_web", code: "return 'free here'" })).status).toBe("success");
  expect(await callCapability(mobile!, "cap:db:scoped")).toBe("once");
  expect(await callCapability(globex!, "cap:db:scoped")).toBe("once");
});

test("[X-02] [TS-S2] what is for the organisation resolves by its name from another project of it, the own project's first, after a restart too", async () => {
  for (const [wanted, visibility] of Object.entries({ org: "org", project: "project", both: "org" } as const))
    await name(web!, `fs:for_${wanted}_alone`, { code: `return "${wanted} of webapp"`, visibility });
  await execute(mobile!, { name: "fs:for_both_alone", code: `return "own"` });
  const server = { name: "com.acme/weather", description: "Weather", version: "1.0.0" };
  const file = join(tenants.gateways[0]!.home.path, "server.json");
  writeFileSync(file, JSON.stringify({ ...server, packages: [] }));
  await runJson(["import", file, "--visibility", "org"], { home: tenants.gateways[0]!.home.path });

  const look = async (): Promise<void> => {
    const client = tenants.gateways[1]!.client;
    expect(await callCapability(client, "cap:fs:for_org_alone")).toBe("org of webapp");
    expect((await execute(client, { capability: "fs:for_org_alone" })).capabilityFqdn).toMatch(/^acme\.webapp\.fs\./);
    expect(await callCapability(client, "cap:fs:for_both_alone")).toBe("own");
    expect(await callCapability(client, "cap:acme.webapp:fs:for_both_alone")).toBe("both of webapp");
    for (const hidden of ["cap:fs:for_project_alone", "cap:acme.webapp:fs:for_project_alone"])
      await expect(callCapability(client, hidden)).rejects.toThrow(/^Capability not found/);
    expect((await callJson(client, "dns:lookup", { name: "mcp:weather" })).value).toMatchObject({
      type: "mcp-server",
      fqdn: expect.stringMatching(/^acme\.webapp\.mcp\.weather\./) as string,
    });
  };
  await look();
  for (const hidden of ["cap:fs:for_org_alone", "cap:acme.webapp:fs:for_org_alone"])
    await expect(callCapability(globex!, hidden)).rejects.toThrow(/^Capability not found/);
  expect((await callJson(globex!, "dns:lookup", { name: "mcp:weather" })).isError).toBe(true);
  // Only looked at and run from there: changes are its own project's.
  const refused = await callJson(mobile!, "dns:rename", { name: "fs:for_org_alone", newName: "fs:taken_over" });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("belongs to acme.webapp")]);
  await tenants.restart(1);
  [, mobile] = tenants.gateways.map(({ client }) => client);
  await look();
});

test("[TS-Q2] what is public is found across organisations and runs by its FQDN; nothing else of another tenant shows", async () => {
  const open = await name(web!, "fs:open_to_all", { visibility: "public", description: "Reads for everybody" });
  const shared = await name(web!, "fs:for_acme", { visibility: "org", description: "Reads for acme" });
  const own = await name(web!, "fs:for_webapp", { visibility: "project", description: "Reads for the web" });
  expect(await found(globex!, { visibility: "public", namespace: "fs" })).toEqual([open]);
  expect(await found(globex!, { visibility: "public", namespace: "git" })).toEqual([]);
  expect(await found(mobile!, { namespace: "fs", text: "reads for" })).toEqual([shared, open]);
  expect(await callCapability(mobile!, "cap:acme.webapp:fs:for_acme")).toContain("fs:for_acme");
  // a foreign organisation's code never runs under a short name
  await expect(callCapability(globex!, "cap:fs:open_to_all")).rejects.toThrow(/^Capability not found/);
  expect((await execute(globex!, { capability: open })).result).toContain("fs:open_to_all");
  expect(await callCapability(web!, "cap:fs:for_webapp")).toContain("fs:for_webapp");

  for (const hidden of [shared, own]) {
    expect((await execute(globex!, { capability: hidden })).error?.message).toBe(`Capability not found: ${hidden}`);
    expect((await callJson(globex!, "dns:whois", { fqdn: hidden })).isError).toBe(true);
  }
  const discovered = await callJson(globex!, "pml_discover", { intent: "Reads for acme", limit: 50 });
  expect(discovered.text).not.toMatch(/for_acme|for_webapp/);
  expect(await listNames(globex!)).not.toContain("cap__fs__for_acme");
});

test("[FR050] what is public is offered to everybody at the gateway's address, and can be copied into another memory", async () => {
  const fqdn = await name(web!, "util:greet", {
    code: "return `hello ${args.who}`",
    args: { who: "you" },
    visibility: "public",
    description: "Greets",
    version_tag: "v1.0.0",
  });
  await name(web!, "util:secret_sauce", { visibility: "org" });
  const { url = "" } = readDaemonAddress(tenants.gateways[0]!.home.path) ?? {};
  const get = async (path: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(new URL(path, url)); // without a token
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const listed = (await get("/registry/capabilities?namespace=util")).body["capabilities"];
  expect(listed).toMatchObject([{ fqdn, display_name: "util:greet", path: `/registry/capabilities/${fqdn}` }]);
  expect((await get("/registry/capabilities/acme.webapp.util.secret_sauce")).status).toBe(404);
  expect((await get("/registry/capabilities/util%3Agreet")).status).toBe(404);
  expect(await get("/registry/capabilities?cursor=x")).toMatchObject({
    status: 400,
    body: { error: { message: "The cursor does not belong to this list" } },
  });

  await using elsewhere = await startGateway({});
  const address = new URL(`/registry/capabilities/${fqdn}`, url).href;
  const copy = await runJson(["fork", address, "util:hello"], { home: elsewhere.path });
  expect(copy).toMatchObject({ display_name: "util:hello", forked_from: fqdn, warnings: [] });
  await using connected = await connectClient(elsewhere.path);
  expect(await callCapability(connected.client, "cap:util:hello", { who: "Ada" })).toBe("hello Ada");
  const { value } = await callJson(connected.client, "dns:whois", { fqdn: "util:hello" });
  expect(value).toMatchObject({ org: "local", forked_from: fqdn, version_tag: "v1.0.0", description: "Greets" });
  const missing = await runPml(["fork", `${url}/registry/capabilities/none`], { home: elsewhere.path });
  expect(missing.stderr).toContain("it answers 404");
  const endless = createServer((_request, response) => Readable.from(repeat(" ".repeat(1024))).pipe(response));
  endless.listen(0, "127.0.0.1");
  await once(endless, "listening");
  const { port } = endless.address() as AddressInfo;
  const refused = await runPml(["fork", `http://127.0.0.1:${port}/`], { home: elsewhere.path });
  expect(refused.stderr).toContain("it is larger than 65536 bytes");
  endless.close();
  endless.closeAllConnections();
});

function* repeat(text: string): Generator<string> {
  for (;;) yield text;
}

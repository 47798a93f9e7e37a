import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
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

const name = async (by: Client, wanted: string, more: Record<string, unknown> = {}): Promise<string> => {
  const made = await execute(by, { name: wanted, code: `return "${wanted} ${JSON.stringify(more).length}"`, ...more });
  expect(made).toMatchObject({ status: "success", capabilityName: wanted });
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
  const taken = await execute(web!, { name: "fs:whose", code: "return 'again'" });
  expect(taken.error?.message).toContain("already exists in scope acme.webapp");
  // a run is hidden from other tenants, even by its id
  const waiting = await execute(web!, { code: "return 1" });
  const other = await execute(globex!, { continue_workflow: { workflow_id: waiting.workflowId } });
  expect(other.error?.code).toBe("run_not_found");
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

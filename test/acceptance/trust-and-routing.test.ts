import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { makeFolder } from "../support/folder.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { rewriteExport } from "../support/rewrite-export.ts";
import { servers } from "../support/upstream-servers.ts";

let work: Awaited<ReturnType<typeof makeFolder>>;
let home: GatewayHome;
let connected: TestClient;
let client: Client;

/** One gateway with a signing key and two stdio servers, one of them routed to the cloud by the permissions file. */
beforeAll(async () => {
  work = await makeFolder();
  const { privateKey } = generateKeyPairSync("ed25519");
  const keyFile = join(work.path, "signing.pem");
  writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  home = await startGateway(
    { here: servers.counting(join(work.path, "here.txt")), there: servers.counting(join(work.path, "there.txt")) },
    { config: { signing: { keyFile }, permissions: { allow: ["*:*"] } } },
  );
  writeFileSync(join(home.path, "mcp-permissions.yaml"), "there:\n  routing: cloud\n");
  await home.ready("here", "there");
  await connect();
  for (const [name, code] of Object.entries(PROGRAMS)) await execute(client, { name, code });
});
afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await work[Symbol.asyncDispose]();
});

async function connect(): Promise<void> {
  connected = await connectClient(home.path, { transport: "http", era: "auto" });
  ({ client } = connected);
}

const PROGRAMS = {
  "util:both": `return [await mcp.here.list({ length: 1 }), await mcp.there.list({ length: 1 })]`,
  "util:there": `return (await mcp.there.list({ length: 2 })).items`,
  "util:pure": `return 1 + 1`,
  "util:calls_both": `return await capabilities.util.both({})`,
} as const;

interface Record {
  readonly routing: string;
  readonly tools_used: string[];
  readonly verified: boolean;
  readonly signature: string;
  readonly health: string;
  readonly version: number;
}

async function whois(name: string): Promise<Record> {
  return (await callJson<Record>(client, "dns:whois", { fqdn: name })).value;
}

async function routings(): Promise<string[]> {
  return Promise.all(Object.keys(PROGRAMS).map(async (name) => (await whois(name)).routing));
}

const permissionsCount = (): Promise<void> =>
  until("the permissions file counts", async () => (await whois("util:there")).routing === "cloud");

test("[FR063] [13.15-AC1] the tools that a capability uses are stored with it", async () => {
  expect((await whois("util:both")).tools_used).toEqual(["here:list", "there:list"]);
  const versions = await exportedRows(home.path, "capability_versions");
  expect(versions.map((row) => row["tools_used"])).toContainEqual(["here:list", "there:list"]);
});

test("[FR064] [13.15-AC2] [13.15-AC3] [13.15-AC4] [13.15-AC6] [13.15-AC7] where a capability runs follows from its tools and the permissions file, and is kept", async () => {
  await permissionsCount();
  expect(await routings()).toEqual(["local", "cloud", "cloud", "local"]);
  const { value } = await callJson(client, "dns:lookup", { name: "cap:util:both" });
  expect(value["routing"]).toBe("local");
  await until("it is kept with the records", async () => {
    const rows = await exportedRows(home.path, "capability_records");
    const kept = Object.keys(PROGRAMS).map((name) => rows.find((row) => row["display_name"] === name)?.["routing"]);
    return JSON.stringify(kept) === JSON.stringify(["local", "cloud", "cloud", "local"]);
  });
  const found = await callJson<{ records: { display_name: string }[] }>(client, "dns:query", {
    routing: "local",
    namespace: "util",
  });
  expect(found.value.records.map((each) => each.display_name)).toEqual(["util:both", "util:calls_both"]);
});

test("[FR065] [13.15-AC5] what somebody says about it wins over the tools, after a restart too", async () => {
  const options = { home: home.path };
  const set = await callJson(client, "dns:tag", { name: "util:both", tags: ["x"], routing: "cloud" });
  expect(set.value).toMatchObject({ routing: "cloud", tags: ["x"] });
  await connected[Symbol.asyncDispose]();
  await runPml(["down"], options);
  await runJson(["up"], options);
  await connect();
  expect(await whois("util:both")).toMatchObject({ routing: "cloud" });
  const back = await callJson(client, "dns:tag", { name: "util:both", tags: ["x"], routing: "inherit" });
  expect(back.value).toMatchObject({ routing: "local" });
});

test("[FR039] [TS-R4] versions are signed, a replay verifies them, and a new version is not verified", async () => {
  const before = await whois("util:there");
  expect(before).toMatchObject({ verified: false, health: "pending" });
  expect(before.signature).toMatch(/^sha256:[0-9a-f]{64};ed25519:[0-9a-f]{16}:[\w-]{86}$/);
  const [run] = (await runJson<{ id: string; capabilityName: string }[]>(["runs"], { home: home.path })).filter(
    ({ capabilityName }) => capabilityName === "util:there",
  );
  expect(await runJson(["replay", run?.id ?? ""], { home: home.path })).toMatchObject({ same: true });
  expect(await whois("util:there")).toMatchObject({ verified: true, health: "green" });
  await callJson(client, "dns:update", {
    name: "util:there",
    code: `return (await mcp.there.list({ length: 3 })).items`,
  });
  expect(await whois("util:there")).toMatchObject({ verified: false, version: 2 });
});

test("[FR039] an import refuses a version that is not what was signed, and takes what is", async () => {
  const [whole, forged] = [join(work.path, "whole.pml"), join(work.path, "forged.pml")];
  await runPml(["export", "-o", whole], { home: home.path });
  rewriteExport(whole, forged, (table, row) =>
    table === "capability_versions" && String(row["code_snippet"]).includes("1 + 1")
      ? { ...row, code_snippet: `return "not what was signed"` }
      : row,
  );
  const refused = await runPml(["import", forged], { home: home.path });
  expect(refused.code).toBe(EXIT.refused);
  expect(refused.stderr).toContain("is not what was signed");
  expect(await runJson(["import", whole], { home: home.path })).toMatchObject({ added: 0 });
  expect((await callJson(client, "cap:util:pure")).text).toBe("2");
});

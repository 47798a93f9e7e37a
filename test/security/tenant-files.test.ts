import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { analyseProgram } from "../../src/analysis/analyse-program.ts";
import { createSigning, type Signing } from "../../src/registry/signature.ts";
import type { Insertable } from "kysely";
import { openPostgres } from "../../src/db/open-postgres.ts";
import type { Tables } from "../../src/db/tables.ts";
import { EXIT } from "../../src/base/errors.ts";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { forgeCapability, forgeExport, type ForgedRows, readRows } from "../support/forge-export.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { callCapability, callJson } from "../support/names-scene.ts";
import { runJson, runPml } from "../support/pml.ts";
import { startTenants, type TenantGateways } from "../support/tenant-gateways.ts";

const SCOPES = ["acme.web", "acme.ops", "globex.shop"] as const;
let work: Awaited<ReturnType<typeof makeFolder>>;
let tenants: TenantGateways;
beforeAll(async () => {
  work = await makeFolder();
  tenants = await startTenants(...SCOPES);
  for (const [index, scope] of SCOPES.entries()) await leaveTraces(clientOf(index), canaryOf(scope));
});
afterAll(async () => {
  await tenants[Symbol.asyncDispose]();
  await work[Symbol.asyncDispose]();
});

const canaryOf = (scope: string): string => `canary${scope.replace(".", "")}`;
const clientOf = (index: number): Client => tenants.gateways[index]!.client;
const homeOf = (index: number): string => tenants.gateways[index]!.home.path;
const [WEB, OPS, SHOP] = [0, 1, 2];

/** Writes the canary into every field that an agent can write. */
async function leaveTraces(client: Client, canary: string): Promise<void> {
  await execute(client, {
    name: `util:${canary}`,
    intent: `find ${canary}-intent`,
    description: `${canary}-description`,
    tags: [`${canary}-tag`],
    code: `console.log("${canary}-log"); return { found: args.word, word: "${canary}-literal" }`,
    args: { word: `${canary}-argument` },
  });
  await callJson(client, "dns:rename", { name: `util:${canary}`, newName: `util:${canary}_b` });
  await execute(client, { code: `throw new Error("${canary}-failure")` });
}

async function exportFrom(index: number): Promise<string> {
  const path = join(work.path, `export-${index}.pml`);
  await runJson(["export", "-o", path], { home: homeOf(index) });
  return path;
}

function importInto(index: number, rows: ForgedRows): Promise<{ added: number; notes: string[] }> {
  const path = forgeExport(join(work.path, "in.pml"), rows);
  return runJson(["import", path], { home: homeOf(index) });
}

async function namesOf(index: number): Promise<string[]> {
  const { value } = await callJson<{ records: { fqdn: string }[] }>(clientOf(index), "dns:query", { limit: 100 });
  return value.records.map(({ fqdn }) => fqdn);
}

test("C3: an export and a backup hold nothing of another organisation or project", async () => {
  for (const [index, scope] of SCOPES.entries()) {
    const rows = JSON.stringify(readRows(await exportFrom(index)));
    const { path } = await runJson<{ path: string }>(["backup"], { home: homeOf(index) });
    const saved = JSON.stringify(readRows(path));
    for (const text of [rows, saved]) {
      const found = SCOPES.filter((each) => text.includes(canaryOf(each)));
      expect(found).toEqual([scope]);
    }
  }
});

test("C3: an export of another scope is moved into the caller's, and leaves its own alone", async () => {
  const before = await namesOf(SHOP);
  const imported = await runJson<{ added: number; notes: string[] }>(["import", await exportFrom(SHOP)], {
    home: homeOf(WEB),
  });
  expect(imported.notes).toContain("Moved from the scope globex.shop to acme.web");
  expect(imported.added).toBeGreaterThan(4);
  const name = `util:${canaryOf("globex.shop")}_b`;
  const { value } = await callJson<{ org: string; fqdn: string }>(clientOf(WEB), "dns:whois", { fqdn: name });
  expect(value).toMatchObject({ org: "acme" });
  expect(value.fqdn).toMatch(/^acme\.web\./);
  expect(await callCapability(clientOf(WEB), `cap:${name}`, { word: "w" })).toMatchObject({ found: "w" });
  // The former name came along.
  expect(await callCapability(clientOf(WEB), `cap:util:${canaryOf("globex.shop")}`, { word: "w" })).toMatchObject({
    found: "w",
  });
  expect(await namesOf(SHOP)).toEqual(before);
  const again = await runJson<{ added: number }>(["import", await exportFrom(SHOP)], { home: homeOf(WEB) });
  expect(again.added).toBe(0);
});

test("C3: a forged file plants nothing in another organisation, nor in another project of the same one", async () => {
  const before = [await namesOf(OPS), await namesOf(SHOP)];
  for (const [org, project] of SCOPES.slice(1).map((scope) => scope.split("."))) {
    const planted = forgeCapability(`util:planted_${project}`, `return "planted"`, {
      scope: { org, project },
      record: { visibility: "public" },
    });
    await importInto(WEB, planted.rows);
  }
  expect([await namesOf(OPS), await namesOf(SHOP)]).toEqual(before);
  for (const index of [OPS, SHOP])
    await expect(callCapability(clientOf(index), "cap:util:planted_shop")).rejects.toThrow(/not found/);
  expect(await callCapability(clientOf(WEB), "cap:util:planted_shop")).toContain("planted");
});

test("C3: the id of another project's record adds nothing to that record", async () => {
  const [, record] = readRows(await exportFrom(OPS)).find(([table]) => table === "capability_records")!;
  const forged = forgeCapability(`util:same_id`, `return "planted"`, {
    scope: { org: "acme", project: "web" },
    record: { id: record["id"], version: 2 },
    version: { record_id: record["id"], version: 2, version_tag: "v9.0.0" },
  });
  expect((await importInto(WEB, forged.rows)).added).toBe(0);
  const name = String(record["display_name"]);
  const { value } = await callJson<{ versions: unknown[] }>(clientOf(OPS), "dns:history", { name });
  expect(JSON.stringify(value)).not.toContain("v9.0.0");
});

test("C4: a copy of another organisation's program has the tools of its text, no signature of ours and no permissions", async () => {
  const forged = forgeCapability("util:open", `return await mcp.files.remove({ path: "x" })`, {
    scope: { org: "globex", project: "shop" },
    record: { visibility: "public" },
  });
  await using database = await openPostgres({ url: tenants.database, poolSize: 1 });
  for (const [table, row] of forged.rows)
    await database.db
      .insertInto(table as "capability_records")
      .values(row as Insertable<Tables["capability_records"]>)
      .execute();
  const fqdn = "globex.shop.util.open.beef";
  const { value } = await callJson<{ display_name: string }>(clientOf(WEB), "dns:fork", { source: fqdn });
  expect(value.display_name).toBe("util:open");
  const copy = await callJson(clientOf(WEB), "dns:whois", { fqdn: "util:open" });
  expect(copy.value).toMatchObject({ tools_used: ["files:remove"], verified: false, visibility: "private" });
  expect(copy.value["permission_set"] ?? []).toEqual([]);
  expect(String(copy.value["fqdn"])).not.toContain("beef");
  expect(copy.text).not.toContain("beefbeef");
});

const makeKeys = (): { readonly pem: string; readonly publicPem: string; readonly signing: Signing } => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const publicPem = publicKey.export({ type: "spki", format: "pem" }) as string;
  return { pem, publicPem, signing: createSigning({ privateKey: pem, trusted: [] }) };
};
const CODE = `return "signed"`;
function versionOf(code: string, signing: Signing | undefined, signed = code): Record<string, unknown> {
  const outcome = analyseProgram(signed, { findTool: () => undefined });
  if (outcome.kind === "syntax_error") throw new Error(outcome.problem.message);
  const { hash: sourceHash, parameters, tools: toolsUsed } = outcome.program;
  const signature = signing?.sign({ sourceHash, text: signed, source: undefined, parameters, toolsUsed });
  return { code_snippet: code, source_hash: sourceHash, parameters_schema: parameters, signature: signature ?? null };
}

describe("C4: with signing.required", () => {
  const [trusted, stranger] = [makeKeys(), makeKeys()];
  let home: GatewayHome;
  beforeAll(async () => {
    const file = join(work.path, "trusted.pem");
    writeFileSync(file, trusted.publicPem);
    home = await startGateway({}, { config: { signing: { required: true, trustedKeys: [file] } } });
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test.each([
    ["an unsigned version", (): Record<string, unknown> => versionOf(CODE, undefined)],
    ["a version signed by a stranger", () => versionOf(CODE, stranger.signing)],
    ["a signature for another text", () => versionOf(`return "other"`, trusted.signing, CODE)],
  ])("%s is refused", async (_name, version) => {
    const { rows } = forgeCapability("util:unsigned", CODE, { version: version() });
    const path = forgeExport(join(work.path, "unsigned.pml"), rows);
    const { code, stderr } = await runPml(["import", path], { home: home.path });
    expect({ code, refused: /is refused|is not what was signed/.test(stderr) }).toEqual({
      code: EXIT.refused,
      refused: true,
    });
    const { stdout } = await runPml(["export"], { home: home.path });
    expect(stdout.includes("util:unsigned")).toBe(false);
  });

  test("a version signed by a trusted key is taken with its signature", async () => {
    const version = versionOf(CODE, trusted.signing);
    const path = forgeExport(join(work.path, "signed.pml"), forgeCapability("util:signed", CODE, { version }).rows);
    await runJson(["import", path], { home: home.path });
    const { stdout } = await runPml(["export"], { home: home.path });
    expect(stdout.includes(String(version["signature"]))).toBe(true);
  });
});

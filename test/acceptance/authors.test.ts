/** Creator and updater of a capability: the token's principal, or the agent that uses the owner's token. */
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, runPml } from "../support/pml.ts";
import { ADMIN_SCOPE } from "../support/principals-scene.ts";
import { type RemoteGateway, startRemoteGateway } from "../support/remote-gateway.ts";

interface Whois {
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_by: string;
  readonly updated_at: string;
  readonly version: number;
  readonly version_tag: string | null;
}

const ADA = "ada@acme.io";
const ERWAN = "erwan@acme.io";
const stack = new AsyncDisposableStack();
let gateway: RemoteGateway;
let [ada, erwan]: Client[] = [];
const started = Date.now();
/** Asked right after its first call, when nothing had ever been written about its creator before. */
let atOnce: Whois;
beforeAll(async () => {
  gateway = stack.use(await startRemoteGateway({}, { auth: { adminScope: ADMIN_SCOPE } }));
  await connect();
  await execute(ada!, { name: "fs:of_ada", code: "return 'ada'", visibility: "project" });
  atOnce = await whois(ada!, "fs:of_ada");
  await execute(ada!, { name: "fs:of_both", code: "return 1", visibility: "project", version_tag: "v1.0.0" });
  await execute(erwan!, { name: "fs:of_erwan", code: "return 'erwan'", visibility: "project" });
  await execute(erwan!, { name: "db:of_erwan", code: "return 'secret'", visibility: "private" });
});
afterAll(() => stack.disposeAsync());

async function connect(): Promise<void> {
  [ada, erwan] = await Promise.all(
    [ADA, ERWAN].map(async (sub) => {
      // Both may change what the other made, so that creator and updater differ.
      const token = await gateway.issuer.sign({ sub, scope: `mcp ${ADMIN_SCOPE}` });
      return stack.use(await gateway.connect(token, "auto"));
    }),
  );
}

const whois = async (by: Client, fqdn: string): Promise<Whois> =>
  (await callJson<Whois>(by, "dns:whois", { fqdn })).value;

/** Principal names include the issuer of the subject. */
const nameOf = (subject: string): string => `${subject} (${gateway.issuer.issuer})`;

const found = async (by: Client, created_by: string): Promise<string[]> => {
  const query = { created_by, record_type: "capability" };
  const { value } = await callJson<{ records: { display_name: string }[] }>(by, "dns:query", query);
  return value.records.map(({ display_name: name }) => name);
};

test("[X-01] [FR037] a capability is its creator's at once, and stays theirs when others call and change it", async () => {
  expect([atOnce.created_by, atOnce.updated_by]).toEqual([nameOf(ADA), nameOf(ADA)]);
  expect(Date.parse(atOnce.created_at)).toBeGreaterThanOrEqual(started);
  expect(Date.parse(atOnce.created_at)).toBeLessThanOrEqual(Date.now());

  await execute(erwan!, { capability: "fs:of_ada" });
  expect((await whois(erwan!, "fs:of_ada")).updated_by).toBe(nameOf(ADA));
  await callJson(erwan!, "dns:tag", { name: "fs:of_ada", tags: ["shared"] });
  const tagged = await whois(ada!, "fs:of_ada");
  expect(tagged).toMatchObject({ created_by: nameOf(ADA), created_at: atOnce.created_at, updated_by: nameOf(ERWAN) });
});

test("[X-01] [FR038] each version has its author, tag and time, and the record those of the last change", async () => {
  const before = await whois(ada!, "fs:of_both");
  await callJson(erwan!, "dns:update", { name: "fs:of_both", code: "return 2", version_tag: "v1.1.0" });
  const after = await whois(ada!, "fs:of_both");
  expect(after).toMatchObject({
    version: 2,
    version_tag: "v1.1.0",
    updated_by: nameOf(ERWAN),
    created_by: nameOf(ADA),
  });
  expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  const { value } = await callJson<{ versions: unknown[] }>(ada!, "dns:history", { name: "fs:of_both" });
  expect(value.versions).toMatchObject([
    { version: 2, version_tag: "v1.1.0", updated_by: nameOf(ERWAN), updated_at: after.updated_at },
    { version: 1, version_tag: "v1.0.0", updated_by: nameOf(ADA) },
  ]);
});

test("[13.11-AC2] [FR042] a query by creator takes a pattern and finds what that creator made, and nothing else", async () => {
  for (const name of ["fs:of_ada", "fs:of_erwan"]) await callJson(ada!, "dns:tag", { name, tags: ["shared"] });
  expect(await found(ada!, "erwan@*")).toEqual(["fs:of_erwan"]);
  expect(await found(erwan!, "erwan@*")).toEqual(["db:of_erwan", "fs:of_erwan"]);
  expect(await found(ada!, ADA)).toEqual(["fs:of_ada", "fs:of_both"]);
  expect(await found(ada!, "a*@acme.i?")).toEqual(["fs:of_ada", "fs:of_both"]);
  expect(await found(ada!, "erwan")).toEqual([]);
  expect(await found(ada!, "local")).toEqual([]);
  const query = { created_by: "*@acme.io", tags: ["shared"], visibility: "project", record_type: "capability" };
  const { value } = await callJson<{ records: object[]; total: number }>(ada!, "dns:query", query);
  expect(value).toMatchObject({ total: 2, records: [{ display_name: "fs:of_ada" }, { display_name: "fs:of_erwan" }] });
});

test("[X-01] with the owner's token the agent signs by its own name; after a restart all authors are the same", async () => {
  const home = gateway.home.path;
  {
    await using claude = await connectClient(home, { name: "claude-code" });
    await execute(claude.client, { name: "util:of_claude", code: "return 'claude'", visibility: "project" });
    await using cursor = await connectClient(home, { name: "cursor (erwan@acme.io)", transport: "http", era: "auto" });
    await callJson(cursor.client, "dns:rename", { name: "util:of_claude", newName: "util:renamed" });
  }
  const renames = await exportedRows(home, "capability_rename_history");
  const authors = await exportedRows(home, "principals");
  const cursor = authors.find(({ kind, name }) => kind === "agent" && name === "cursor erwan@acme.io");
  expect(renames.map((row) => row["renamed_by"])).toEqual([cursor?.["id"]]);

  await runPml(["down"], { home });
  await runPml(["up"], { home, env: { PML_PORT: new URL(gateway.url).port } });
  await connect();
  // An agent cannot pass for a person by its client name.
  expect(await whois(ada!, "util:renamed")).toMatchObject({
    created_by: "claude-code",
    updated_by: "cursor erwan@acme.io",
  });
  expect(await found(ada!, "claude-*")).toEqual(["util:renamed"]);
  expect(await found(ada!, "erwan@*")).toEqual(["fs:of_erwan"]);
  expect(await whois(erwan!, "fs:of_both")).toMatchObject({ created_by: nameOf(ADA) });
  const told = await runJson<Whois>(["whois", "util:renamed"], { home });
  expect(told.created_by).toBe("claude-code");
});

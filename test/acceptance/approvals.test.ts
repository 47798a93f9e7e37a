import { readFileSync } from "node:fs";
import { join } from "node:path";
import { v7 as newId } from "uuid";
import { expect, test } from "vitest";
import { DEFAULT_SCOPE } from "../../src/registry/scope.ts";
import { type DaemonAddress, readDaemonAddress, readDecisionKey } from "../../src/daemon/daemon-file.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { EXIT } from "../../src/base/errors.ts";
import { askedTool, askFor, openPermissions, seedApprovals } from "../support/approvals.ts";
import { createServerDatabase, makeFolder } from "../support/databases.ts";
import type { TestFolder } from "../support/folder.ts";
import { call } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { runInTerminal, YES } from "../support/pty.ts";
import type { SentApproval } from "../../src/contract/approvals.ts";

/** A home with pending approvals; stops its daemon at the end of the scope. */
async function homeWith(
  ...requests: Parameters<typeof askFor>[0][]
): Promise<{ home: string; ids: string[] } & AsyncDisposable> {
  const folder: TestFolder = await makeFolder();
  const ids = await seedApprovals(folder.path, ...requests.map(askFor));
  return {
    home: folder.path,
    ids,
    async [Symbol.asyncDispose]() {
      await runPml(["down"], { home: folder.path });
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function startDaemon(home: string): Promise<DaemonAddress & { readonly key: string }> {
  await runJson(["up"], { home });
  const address = readDaemonAddress(home);
  const key = readDecisionKey(home);
  if (address === undefined || key === undefined) throw new Error(`no daemon runs in ${home}`);
  return { ...address, key };
}

test("an approval outlives restarts, is decided once by pml approve, and what was remembered stays remembered", async () => {
  const put = askedTool("memory:create_entities");
  const drop = askedTool("memory:delete_entities", { effect: "destructive", rememberable: false });
  await using seeded = await homeWith({ tools: [put, drop], capability: "notes:tidy" });
  const { home, ids } = seeded;
  const [id = ""] = ids;
  const options = { home };
  const restart = async (): Promise<void> => {
    await runJson(["down"], options);
    await runJson(["up"], options);
  };
  const list = await runPml(["inbox"], options);
  expect(list.stdout).toContain(`${id}\tapproval\tpending\tmemory:create_entities, memory:delete_entities\tRemember`);
  expect(list.stderr).toContain(`pml approve ${id}`);
  await restart();
  const shown = await runPml(["inbox", id], options);
  expect(shown.stdout).toContain("memory:delete_entities (destructive)");
  expect(shown.stdout).toContain("await mcp.memory.create_entities({ entities: args.entities });");
  expect(shown.stderr).toMatch(new RegExp(`http://127.0.0.1:\\d+/approvals/${id}`));

  const approved = await runInTerminal(["approve", id, "--remember"], options, [YES]);
  expect(approved.code).toBe(EXIT.ok);
  expect(approved.screen).toContain("await mcp.memory.create_entities({ entities: args.entities });");
  expect(approved.screen).toContain(
    `Allowed once: memory:create_entities, memory:delete_entities for "Remember the total"`,
  );
  expect(approved.screen).toMatch(/memory:create_entities will not ask again.*pml rules remove rul_\w+\r\n$/);
  const again = await runPml(["refuse", id, "--json"], options);
  expect([again.code, JSON.parse(again.stdout)]).toEqual([
    EXIT.failed,
    { ok: false, error: expect.objectContaining({ code: "approval_decided" }) },
  ]);
  expect((await runPml(["inbox"], options)).stdout).toBe("Nothing needs you\n");

  await restart();
  expect(await runJson<SentApproval[]>(["inbox", "--all"], options)).toMatchObject([
    { id, state: "approved", decidedVia: "cli" },
  ]);
  const rules = await runJson<{ id: string; tool: string }[]>(["rules"], options);
  expect(rules).toMatchObject([{ tool: "memory:create_entities", capability: "notes:tidy", approvalId: id }]);
  const [rule] = rules;
  expect((await runPml(["rules", "remove", rule?.id ?? ""], options)).code).toBe(EXIT.ok);
  expect((await runPml(["rules", "remove", rule?.id ?? ""], options)).code).toBe(EXIT.notFound);
  expect(await runJson(["rules"], options)).toEqual([]);
});

test.each([
  [["--remember"], "Allowed from now on: memory:create_entities"],
  [["--remember", "--for", "7"], "Allowed for 7 days: memory:create_entities"],
  [[], "Allowed once: memory:create_entities"],
])("pml approve %j says how long it holds", async (flags, expected) => {
  await using seeded = await homeWith({ tools: [askedTool("memory:create_entities")], capability: "notes:tidy" });
  const approved = await runInTerminal(["approve", seeded.ids[0] ?? "", ...flags], { home: seeded.home }, [YES]);
  expect(approved.screen).toContain(expected);
});

test("a refusal carries its reason; wrong ids and wrong words say what is wrong", async () => {
  await using seeded = await homeWith({ intent: "clear \u001B[2J the \u202E screen" });
  const { home, ids } = seeded;
  const [id = ""] = ids;
  const { stdout } = await runPml(["inbox"], { home });
  expect(stdout).toContain("clear \\u{1b}[2J the \\u{202e} screen");
  expect((await runPml(["approve", id, "--for", "7"], { home })).code).toBe(EXIT.usage);
  expect((await runPml(["approve", id, "--remember", "--for", "soon"], { home })).code).toBe(EXIT.usage);
  expect((await runPml(["approve", "apr_nothing"], { home })).code).toBe(EXIT.notFound);
  expect((await runPml(["inbox", "apr_nothing"], { home })).code).toBe(EXIT.notFound);
  expect((await runPml(["rules", "remove"], { home })).code).toBe(EXIT.usage);
  const refusing = ["refuse", id, "--reason", "not in that folder"];
  expect((await runInTerminal(refusing, { home }, [YES])).code).toBe(EXIT.ok);
  const all = await runJson<SentApproval[]>(["inbox", "--all"], { home });
  expect(all).toMatchObject([{ id, state: "refused", reason: "not in that folder" }]);
});

test("the token of the gateway lets nobody decide; the person's key does", async () => {
  await using seeded = await homeWith({});
  const { home, ids } = seeded;
  const { url, token, key } = await startDaemon(home);
  expect(key).not.toBe(token);
  const decide = (headers: Record<string, string>, body: unknown = { decision: "approve", via: "dashboard" }) =>
    fetch(`${url}/api/v1/approvals/${ids[0]}/decision`, { method: "POST", headers, body: JSON.stringify(body) });
  const bearer = { Authorization: `Bearer ${token}` };
  expect((await decide({})).status).toBe(401);
  expect((await decide(bearer)).status).toBe(403);
  expect((await decide({ ...bearer, "X-PML-Decision-Key": token })).status).toBe(403);
  expect((await decide({ "X-PML-Decision-Key": key })).status).toBe(401);
  const person = { ...bearer, "X-PML-Decision-Key": key };
  expect((await decide(person, { decision: "yes", via: "cli" })).status).toBe(409);
  const inbox = await (await fetch(`${url}/api/v1/inbox`, { headers: bearer })).json();
  expect(inbox).toMatchObject({ ok: true, data: { items: [{ kind: "approval", id: ids[0], state: "pending" }] } });
  expect(await (await decide(person)).json()).toMatchObject({ ok: true, data: { approval: { state: "approved" } } });
  expect((await decide(person)).status).toBe(409);
});

test("the page of an approval shows nothing without the key, everything with it, and takes one decision", async () => {
  const evil = `</pre><script>alert("x")</script>`;
  await using seeded = await homeWith({ intent: evil, code: "c1" }, { code: "c2" });
  const { home, ids } = seeded;
  const [first = "", second = ""] = ids;
  const { url, token, key } = await startDaemon(home);
  const post = async (id: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields);
    const response = await fetch(`${url}/approvals/${id}`, { method: "POST", body, headers });
    return { status: response.status, text: await response.text() };
  };
  const blank = await fetch(`${url}/approvals/${first}`);
  const text = await blank.text();
  expect(blank.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(blank.headers.get("set-cookie")).toBeNull();
  expect(text).not.toContain("memory");
  expect(await (await fetch(`${url}/approvals/apr_nothing`)).text()).toBe(text.replaceAll(first, "apr_nothing"));

  expect((await post(first, { key: token })).status).toBe(403);
  expect((await post(first, { answer: "once" })).status).toBe(403);
  expect((await post(first, { key }, { Origin: "https://evil.example" })).status).toBe(403);
  const shown = await post(first, { key });
  expect(shown.text).toContain("memory:create_entities");
  expect(shown.text).toContain("&lt;script&gt;");
  expect(shown.text).not.toContain("<script>");
  expect(shown.text).not.toContain(key);
  const ticket = /name="ticket" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  expect((await post(second, { ticket, answer: "once" })).status).toBe(403);
  const decided = await post(first, { ticket, answer: "always", reason: "fine" });
  expect(decided.text).toMatch(/Allowed.*pml rules remove rul_/s);
  expect((await post(first, { ticket, answer: "refuse" })).status).toBe(409);
  expect((await post("apr_nothing", { key })).text).toContain("There is no approval");
  const states = (await runJson<SentApproval[]>(["inbox", "--all"], { home })).map(({ state, decidedVia }) => [
    state,
    decidedVia,
  ]);
  expect(states).toEqual([
    ["pending", undefined],
    ["approved", "dashboard"],
  ]);
});

test("no tool lets an agent decide what it asked for itself", async () => {
  const runId = newId();
  await using seeded = await homeWith({ runId });
  const { home, ids } = seeded;
  const [id = ""] = ids;
  await using connected = await connectClient(home);
  const { client } = connected;
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  const imagined = ["pml_approve", "pml:approve", "approve", "pml_decide", "pml_execute", "learn__approve"];
  const inputs = [
    { id, decision: "approve", via: "cli" },
    { approval: id, approved: true, intent: "go on" },
    { intent: "go on", continue_workflow: { workflow_id: runId, approved: true } },
    { intent: "go on", continue_workflow: { workflow_id: id, approved: true } },
  ];
  for (const name of new Set([...listed, ...imagined])) {
    for (const input of inputs) await call(client, name, input).catch(() => undefined);
  }
  expect(await runJson<SentApproval>(["inbox", id], { home })).toMatchObject({ id, state: "pending" });
});

test("a gateway on PostgreSQL hears of a decision that was made through another one", async () => {
  const url = await createServerDatabase();
  await using home = await makeFolder();
  await using client = await openPostgres({ url, poolSize: 3 });
  await migrate(client.db);
  await using other = await openPermissions(client);
  const { id } = await other.permissions.requestApproval(askFor());
  const waiting = other.permissions.waitForDecision(DEFAULT_SCOPE, id, AbortSignal.timeout(60_000));
  const options = { home: home.path, env: { DATABASE_URL: url } };
  try {
    expect((await runInTerminal(["approve", id], options, [YES])).code).toBe(EXIT.ok);
    expect(await waiting).toMatchObject({ state: "approved", decidedVia: "cli" });
  } finally {
    await runPml(["down"], options);
  }
  expect(readFileSync(join(home.path, "decision-key"), "utf8")).toMatch(/^[\w-]{43}\n$/);
});

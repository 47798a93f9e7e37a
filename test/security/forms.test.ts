/** A form of a client approves only where a person allowed it, and only on the connection that was asked. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { EXIT } from "../../src/base/errors.ts";
import { openStdio } from "../../src/daemon/daemon-client.ts";
import { readShimSecret } from "../../src/daemon/daemon-file.ts";
import { LineTransport } from "../../src/mcp/transport/line-transport.ts";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { reachAsPerson } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { call } from "../support/gateway-home.ts";
import { type ClientOptions, clientKinds, connectClient, shimKinds, type TestClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { runInTerminal, YES } from "../support/pty.ts";
import { startRemoteGateway } from "../support/remote-gateway.ts";
import { servers } from "../support/upstream-servers.ts";

const ALLOWED = "desk-client";
const YES_BY_FORM = { action: "accept", content: { answer: "once" } } as const;

let scene: CountingScene;

beforeAll(async () => {
  scene = await openCountingScene({ approvals: { forms: [ALLOWED] }, permissions: { ask: ["counting:put"] } });
});
afterAll(() => scene[Symbol.asyncDispose]());

let key = 0;
const writes = (tool = "add"): string => `return await mcp.counting.${tool}({ key: "form${(key += 1)}" })`;

/** Connects a client that answers every form with yes. */
function connect(options: ClientOptions = {}): Promise<TestClient> {
  return connectClient(scene.home.path, { name: ALLOWED, answer: YES_BY_FORM, ...options });
}

/** Opens the endpoint of shims with the token, and with a secret or none. */
async function openSocket(secret: string | undefined, options: ClientOptions = {}): Promise<TestClient> {
  const socket = await openStdio(await reachAsPerson(scene.home.path), secret);
  return connect({ ...options, through: new LineTransport(socket) });
}

const NOTHING = { status: "approval_required", forms: 0, calls: 0 };

/** Runs a program that writes, and counts the forms that were shown and the calls that were made. */
async function attempt({ client, questions }: TestClient, code: string): Promise<typeof NOTHING> {
  const [forms, calls] = [questions.length, scene.happened().length];
  const { status } = await execute(client, { code });
  return { status, forms: questions.length - forms, calls: scene.happened().length - calls };
}

test.each(shimKinds)(
  "H4: an allowed client is asked once, over $transport ($era), and nothing is remembered",
  async (kind) => {
    await using client = await connect(kind);
    const code = writes();
    expect(await execute(client.client, { code })).toMatchObject({ status: "success" });
    expect(client.questions[0]).toContain("counting:add");
    expect(await call(client.client, "counting__put", { key: `direct ${kind.era}` })).toMatchObject({ isError: false });
    expect(client.questions).toHaveLength(2);
    expect(await execute(client.client, { code })).toMatchObject({ status: "success" });
    expect(client.questions).toHaveLength(3);
    expect(await runJson(["rules"], { home: scene.home.path })).toEqual([]);
  },
);

describe("H4: no form reaches", () => {
  test.each(clientKinds)("a client that nobody allowed, over $transport ($era)", async (kind) => {
    await using client = await connect({ ...kind, name: "stranger" });
    expect(await attempt(client, writes())).toEqual(NOTHING);
    const direct = await call(client.client, "counting__put", { key: "stranger" });
    expect(direct).toMatchObject({ isError: true, text: expect.stringContaining("/approvals/apr_") });
    expect(client.questions).toEqual([]);
  });

  test.each(clientKinds.filter(({ transport }) => transport === "http"))(
    "an allowed name over $transport ($era)",
    async (kind) => {
      await using client = await connect(kind);
      expect(await attempt(client, writes())).toEqual(NOTHING);
    },
  );

  test.each(["legacy", "auto"] as const)("a process with the token, without the secret of shims (%s)", async (era) => {
    for (const secret of [undefined, "", "wrong", (await reachAsPerson(scene.home.path)).token]) {
      await using client = await openSocket(secret, { era });
      expect(await attempt(client, writes())).toEqual(NOTHING);
    }
  });

  test("a program that may destroy something, and a run that somebody goes on with", async () => {
    await using client = await connect();
    expect(await attempt(client, writes("drop"))).toEqual(NOTHING);
    await using plain = await connectClient(scene.home.path, { transport: "http", era: "auto" });
    const code = writes();
    const asked = await execute(plain.client, { code });
    const going = { continue_workflow: { workflow_id: asked.workflowId, approved: true } };
    expect(await execute(client.client, going)).toMatchObject({ status: "approval_required" });
    // the same program while the question of the other session is open
    expect(await attempt(client, code)).toEqual(NOTHING);
    expect(await runJson(["inbox", asked.approval?.id ?? ""], { home: scene.home.path })).toMatchObject({
      state: "pending",
    });
  });

  test("a gateway with auth, not even through a shim", async () => {
    const calls = join(scene.folder, "calls.txt");
    await using gateway = await startRemoteGateway(
      { counting: servers.counting(calls) },
      { config: { approvals: { forms: [ALLOWED] } } },
    );
    await gateway.home.ready("counting");
    await using client = await connectClient(gateway.home.path, { name: ALLOWED, answer: YES_BY_FORM });
    expect(await execute(client.client, { code: writes() })).toMatchObject({ status: "approval_required" });
    expect(client.questions).toEqual([]);
  });
});

test.each(["always", "yes", "approve", true])("H4: a form that answers %j decides nothing", async (answer) => {
  await using client = await connect({ answer: { action: "accept", content: { answer } } });
  expect(await execute(client.client, { code: writes() })).toMatchObject({ status: "approval_required" });
  expect(client.questions).toHaveLength(1);
});

type Answered = Record<string, unknown>;

/** Calls pml_execute and returns a question instead of answering it. */
function begin({ client }: TestClient, code: string, more: Answered = {}): Promise<Answered> {
  const params = { name: "pml_execute", arguments: { intent: "a test", code }, ...more };
  const schema = z.record(z.string(), z.unknown());
  return client.request({ method: "tools/call", params }, schema, { allowInputRequired: true });
}

test("H4: a question is answered on the connection it was put to, also by a second one of the same client", async () => {
  const secret = readShimSecret(scene.home.path);
  await using first = await openSocket(secret, { era: "auto" });
  await using second = await openSocket(secret, { era: "auto" });
  await using remote = await connect({ transport: "http", era: "auto" });
  const before = scene.happened();
  const code = writes();
  const { requestState } = await begin(first, code);
  const answer = { requestState, inputResponses: { answer: YES_BY_FORM } };
  for (const other of [second, remote]) {
    await expect(begin(other, code, answer)).rejects.toMatchObject({ code: -32_602 });
  }
  expect(scene.happened()).toEqual(before);
  expect(JSON.stringify(await begin(first, code, answer))).toContain("success");
  expect(scene.happened()).toHaveLength(before.length + 1);
});

test("H4: a connection that takes the name of an allowed client later is not that client", async () => {
  await using client = await openSocket(readShimSecret(scene.home.path), { era: "auto", name: "stranger" });
  expect(await attempt(client, writes())).toEqual(NOTHING);
  const _meta = { "io.modelcontextprotocol/clientInfo": { name: ALLOWED, version: "1" } };
  expect(JSON.stringify(await begin(client, writes(), { _meta }))).toContain("approval_required");
  expect(client.questions).toEqual([]);
});

test("H4: no answer to an agent names a command that decides", async () => {
  await using client = await connect({ transport: "http", era: "auto" });
  const { approval, ...rest } = await execute(client.client, { code: writes() });
  expect(Object.keys(approval ?? {}).toSorted()).toEqual(["expiresAt", "id", "tools", "url"]);
  const direct = await client.client.callTool({ name: "counting__put", arguments: { key: "named" } });
  expect(direct._meta?.["dev.pml/error"]).toMatchObject({
    details: { approval: { id: expect.any(String), url: expect.any(String), tools: ["counting:put"] } },
  });
  expect(JSON.stringify([approval, rest, direct])).not.toMatch(/pml (?:approve|refuse|review|clients|rules)/);
});

test("H4: forms are allowed by a person at a terminal, and without a restart", async () => {
  const home = scene.home.path;
  const name = "later-client";
  const allow = ["clients", "allow-forms", name];
  const readForms = (): unknown =>
    (JSON.parse(readFileSync(join(home, "pml.json"), "utf8")) as { approvals: { forms: unknown } }).approvals.forms;
  expect((await runPml(allow, { home, input: "y\n" })).code).toBe(EXIT.needsPerson);
  expect((await runPml([...allow, "--json"], { home, input: "y\n" })).code).toBe(EXIT.needsPerson);
  expect(readForms()).toEqual([ALLOWED]);
  await using client = await connect({ name });
  expect(await attempt(client, writes())).toEqual(NOTHING);
  const { code, screen } = await runInTerminal(allow, { home }, [YES]);
  expect([code, readForms()]).toEqual([EXIT.ok, [ALLOWED, name]]);
  expect(screen).toContain(name);
  const isAllowed = async (): Promise<boolean> =>
    (await runJson<{ name: string; forms: boolean }[]>(["clients"], { home })).some(
      (each) => each.name === name && each.forms,
    );
  await until("the daemon applied it", isAllowed);
  expect(await execute(client.client, { code: writes() })).toMatchObject({ status: "success" });
  expect((await runPml(["clients", "deny-forms", name], { home })).code).toBe(EXIT.ok);
  await until("the daemon took it back", async () => !(await isAllowed()));
  expect(await attempt(client, writes())).toEqual(NOTHING);
});

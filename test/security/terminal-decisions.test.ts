/** Decisions on the command line take a person at a terminal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { reachAsPerson } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { type Keystroke, runInTerminal, YES } from "../support/pty.ts";
import { servers } from "../support/upstream-servers.ts";

const ECHO = { description: "Says it again.", inputSchema: { type: "object", properties: {} } };

let stack: AsyncDisposableStack;
let home: GatewayHome;
let echoFile: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const { path } = stack.use(await makeFolder());
  echoFile = join(path, "echo.json");
  writeFileSync(echoFile, JSON.stringify(ECHO));
  home = stack.use(
    await startGateway({
      counting: servers.counting(join(path, "calls.txt")),
      chaos: { ...servers.chaos("chaos", `--echo=${echoFile}`), pml: { changedTools: "block" } },
    }),
  );
  await home.ready("counting", "chaos");
});
afterAll(() => stack.disposeAsync());

let asked = 0;

/** Makes an agent ask for something that nobody has asked for. */
async function ask(): Promise<string> {
  await using agent = await connectClient(home.path, { transport: "http", era: "auto" });
  asked += 1;
  const { approval } = await execute(agent.client, { code: `return await mcp.counting.add({ key: "k${asked}" })` });
  return approval?.id ?? "";
}

async function stateOf(id: string): Promise<string> {
  return (await callDaemon(await reachAsPerson(home.path), routes.getApproval, { params: { id } })).state;
}

test("H4: without a terminal nothing is decided, whatever is piped in; exit 4 names the page", async () => {
  const id = await ask();
  const options = { home: home.path, input: "y\ny\n" };
  const page = `${(await reachAsPerson(home.path)).url}/approvals/${id}`;
  for (const args of [
    ["approve", id],
    ["approve", id, "--json"],
    ["approve", id, "--quiet"],
    ["approve", id, "--remember"],
    ["refuse", id],
  ]) {
    const { code, stderr } = await runPml(args, options);
    expect([code, stderr.includes(page)], args.join(" ")).toEqual([EXIT.needsPerson, true]);
  }
  expect(await stateOf(id)).toBe("pending");
});

test.each<[string, Keystroke[]]>([
  ["another key", [{ after: "any other key", press: "n" }]],
  ["a line feed", [{ after: "any other key", press: "\r" }]],
  ["an interrupt", [{ after: "any other key", press: "\u0003" }]],
  ["a paste that begins with y", [{ after: "any other key", press: "yes, go on" }]],
  [
    "a y that was typed before the question stood there",
    [
      { after: "", press: "y" },
      { after: "any other key", press: "n" },
    ],
  ],
])("H4: %s decides nothing", async (_name, keys) => {
  const id = await ask();
  const { code, screen } = await runInTerminal(["approve", id], { home: home.path }, keys);
  expect(screen).toContain("mcp.counting.add");
  expect([code, await stateOf(id)]).toEqual([EXIT.needsPerson, "pending"]);
});

test("H4: a key pressed at the terminal approves exactly what was shown", async () => {
  const id = await ask();
  const { code, screen } = await runInTerminal(["approve", id], { home: home.path }, [YES]);
  expect(screen.indexOf(`mcp.counting.add({ key: "k${asked}" })`)).toBeGreaterThan(-1);
  expect(screen.indexOf("mcp.counting.add")).toBeLessThan(screen.indexOf("any other key"));
  expect([code, await stateOf(id)]).toEqual([EXIT.ok, "approved"]);
});

test("H6: a changed tool is accepted with the person's key and a terminal, not with the token", async () => {
  await using agent = await connectClient(home.path, { transport: "http", era: "auto" });
  writeFileSync(echoFile, JSON.stringify({ ...ECHO, description: "Reads your keys." }));
  await call(agent.client, "chaos__grow");
  const reviews = (): Promise<unknown[]> => runJson(["review"], { home: home.path });
  await until("the change was noticed", async () => (await reviews()).length > 0);
  const { url, token } = await reachAsPerson(home.path);
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ subject: "chaos:echo", verdict: "accepted" });
  const refused = await fetch(`${url}${routes.decideReviews.path}`, { method: "POST", headers, body });
  expect(refused.status).toBe(403);
  const accepting = ["review", "chaos:echo", "--accept"];
  expect((await runPml(accepting, { home: home.path, input: "y" })).code).toBe(EXIT.needsPerson);
  expect(await reviews()).toHaveLength(1);
  const { code, screen } = await runInTerminal(accepting, { home: home.path }, [YES]);
  expect(screen).toContain("+ Reads your keys.");
  expect([code, await reviews()]).toEqual([EXIT.ok, []]);
});

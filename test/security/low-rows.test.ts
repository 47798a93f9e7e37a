import { afterAll, beforeAll, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { execute } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { addressOf, initializeRequest, sendRaw } from "../support/raw-http.ts";
import { runPml } from "../support/pml.ts";
import { sendBytes, type WireAnswer } from "../support/wire-http.ts";

let scene: CountingScene;
beforeAll(async () => {
  scene = await openCountingScene({ sandbox: { maxCalls: 5 }, limits: { sessions: 3 } });
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Letters and symbols that take room or none, and show nothing. */
const BLANK = ["\u3164", "\uFFA0", "\u115F", "\u2800", "\u{E0041}", "\u202E", "\u00A0", "\u200B"];

test("L1: letters that nobody sees are spelt out in the inbox and on the page", async () => {
  const home = scene.home.path;
  await using connected = await connectClient(home);
  const code = `const \u3164 = "a${BLANK.join("b")}c"; return await mcp.counting.add({ key: \u3164 });`;
  const asked = await execute(connected.client, { intent: `note${BLANK.join("")}`, code });
  const id = asked.approval?.id ?? "";
  const { url, authorization } = addressOf(home);
  const shown = [
    (await runPml(["inbox"], { home })).stdout,
    (await runPml(["inbox", id], { home })).stdout,
    (await sendRaw(url, { method: "GET", path: `/approvals/${id}`, headers: { authorization } })).text,
  ];
  for (const text of shown) {
    expect(text).not.toBe("");
    for (const letter of BLANK) expect(text).not.toContain(letter);
  }
  expect(shown[1]).toContain("const ⟦U+3164⟧ =");
});

function tasks(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    tool: "counting:read",
    arguments: { key: `dag ${count}` },
  }));
}

test("L2: the tasks of a DAG are calls like those of a program", async () => {
  await using connected = await connectClient(scene.home.path);
  const made = (count: number): number => scene.happened().filter((line) => line === `read dag ${count}`).length;
  expect(await execute(connected.client, { dag: { tasks: tasks(5) } })).toMatchObject({ status: "success" });
  const refused = await execute(connected.client, { dag: { tasks: tasks(50) } });
  expect(refused.error).toMatchObject({ code: "limit_exceeded", hint: "The limit is sandbox.maxCalls." });
  expect([made(5), made(50)]).toEqual([5, 5]);
  const chain = tasks(8).map((task, index) => ({ ...task, depends_on: index === 0 ? [] : [`t${index - 1}`] }));
  expect((await execute(connected.client, { dag: { tasks: chain } })).error?.code).toBe("limit_exceeded");
  expect(made(8)).toBe(5);
});

test("L3: one client's sessions leave room for the owner's other clients", async () => {
  const { url, authorization } = addressOf(scene.home.path);
  const open = async (name: string): Promise<{ status: number; text: string }> => {
    const { headers, body } = initializeRequest("2025-06-18");
    const params = { ...body.params, clientInfo: { name, version: "1" } };
    return sendRaw(url, { headers: { ...headers, authorization }, body: { ...body, params } });
  };
  for (let count = 0; count < 3; count += 1) expect((await open("greedy")).status).toBe(200);
  const refused = await open("greedy");
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining("limits.sessions (3)") as string });
  expect((await open("modest")).status).toBe(200);
});

/** Sends a request with any headers, also some twice. */
async function sendHeaders(path: string, ...lines: readonly string[]): Promise<WireAnswer | undefined> {
  const { port } = new URL(addressOf(scene.home.path).url);
  const bytes = Buffer.from([`GET ${path} HTTP/1.1`, ...lines, "Connection: close", "", ""].join("\r\n"));
  return (await sendBytes({ port: Number(port), bytes, halfClose: false, patienceMs: 5_000 }))[0];
}

test("L4: zeros in paths, queries and arguments never bring the database's text to a caller", async () => {
  const { url, authorization } = addressOf(scene.home.path);
  const paths = [
    "/registry/capabilities/%00",
    "/registry/capabilities/fs%3Aread%00",
    "/registry/capabilities?namespace=%00",
    "/registry/capabilities?cursor=%00",
    "/api/v1/records/%00",
    "/api/v1/records?pattern=%00",
    "/api/v1/runs/%00",
    "/api/v1/runs?capability=%00",
    "/approvals/%00",
    "/api/v1/approvals/apr_%00",
    "/records/%00",
  ];
  for (const path of paths) {
    const { status, text } = await sendRaw(url, { method: "GET", path, headers: { authorization } });
    expect([path, status]).toEqual([path, expect.toBeOneOf([200, 400, 404, 409])]);
    expect(text).not.toMatch(DATABASE_WORDS);
  }
  await using connected = await connectClient(scene.home.path);
  const zero = "a\u0000b";
  const calls: [string, Record<string, unknown>][] = [
    ["dns:lookup", { name: zero }],
    ["dns:whois", { name: zero }],
    ["dns:query", { pattern: zero }],
    ["dns:history", { name: zero }],
    ["dns:rename", { name: zero, new_name: zero }],
    ["pml_discover", { intent: zero }],
    ["pml_execute", { intent: zero, code: `return "${zero}"` }],
    ["pml_execute", { intent: "x", capability: zero }],
    ["pml_execute", { intent: "x", continue_workflow: { workflow_id: zero } }],
    ["pml_get_task_result", { task_id: zero }],
    ["pml_list_capabilities", { pattern: zero }],
  ];
  for (const [name, args] of calls) {
    const answer = await connected.client.callTool({ name, arguments: args }).catch((error: unknown) => String(error));
    const text = JSON.stringify(answer);
    expect([name, text]).toEqual([name, expect.not.stringMatching(DATABASE_WORDS)]);
    expect([name, text]).toEqual([name, expect.not.stringContaining("inside of PML")]);
  }
});

const DATABASE_WORDS =
  /invalid byte sequence|unsupported Unicode|syntax error|violates|relation \\?"|invalid input syntax|Failed query|select .* from/i;

test("L5: headers that decide are refused where they come twice", async () => {
  const { url, authorization } = addressOf(scene.home.path);
  const host = `Host: ${new URL(url).host}`;
  const token = `Authorization: ${authorization}`;
  expect(await sendHeaders("/api/v1/status", host, token)).toMatchObject({ status: 200 });
  const twice = [
    [host, "Host: evil.example", token],
    ["Host: evil.example", host, token],
    [host, "hOsT: evil.example", token],
    [host, host, token],
    [host, token, "Authorization: Bearer wrong"],
    [host, "Authorization: Bearer wrong", token],
    [host, token, `Origin: ${url}`, "Origin: https://evil.example"],
    [host, token, "Content-Length: 0", "Content-Length: 0"],
    [host, token, "Content-Length: 0", "Transfer-Encoding: chunked"],
    [host, token, "X-PML-Decision-Key: a", "X-PML-Decision-Key: b"],
    [host, token, "Mcp-Session-Id: a", "Mcp-Session-Id: b"],
  ];
  for (const lines of twice)
    expect([lines, (await sendHeaders("/api/v1/status", ...lines))?.status]).toEqual([lines, 400]);
  const upgrade = ["Connection: Upgrade", "Upgrade: pml-stdio"];
  const shim = await sendHeaders("/stdio", host, "Host: evil.example", token, ...upgrade);
  expect(shim?.status).toBe(400);
});

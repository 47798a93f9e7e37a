/** A program runs exactly as a person approved it: its text, nested versions and arguments, once. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Client } from "@modelcontextprotocol/client";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve, reachAsPerson } from "../support/decide.ts";
import { type Executed, execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import { RawMcp } from "../support/raw-mcp.ts";

const FORMS = "desk-client";
let scene: CountingScene;
let agent: TestClient;

beforeAll(async () => {
  const approvals = { forms: [FORMS] };
  scene = await openCountingScene({ permissions: { allow: ["counting:read"] }, approvals });
  agent = await connectClient(scene.home.path);
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const run = (request: Record<string, unknown>, client: Client = agent.client): Promise<Executed> =>
  execute(client, request);
const goOn = ({ workflowId }: Executed, client: Client = agent.client): Promise<Executed> =>
  execute(client, { continue_workflow: { workflow_id: workflowId } });

/** The question as `pml inbox <id>` shows it. */
async function questionOf(asked: Executed): Promise<string> {
  const id = asked.approval?.id ?? "";
  const { question } = await callDaemon(await reachAsPerson(scene.home.path), routes.getApproval, { params: { id } });
  const { stdout } = await runPml(["inbox", id], { home: scene.home.path });
  expect(stdout).toContain(question);
  return question;
}

/** Approves and goes on until the run is over; returns every question. */
async function approveAll(first: Executed, questions: string[] = []): Promise<{ end: Executed; questions: string[] }> {
  if (first.status !== "approval_required") return { end: first, questions };
  questions.push(await questionOf(first));
  await approve(scene.home.path, first.approval?.id);
  return approveAll(await goOn(first), questions);
}

async function restart(): Promise<void> {
  await agent[Symbol.asyncDispose]();
  await scene.restart();
  await scene.home.ready("counting");
  agent = await connectClient(scene.home.path);
}

/** A number as it stands in a message; no value of JavaScript is written so. */
const rawJson = (text: string): unknown => (JSON as { rawJSON?: (text: string) => unknown }).rawJSON?.(text);

const count = (line: string): number => scene.happened().filter((each) => each === line).length;

describe("the text", () => {
  test("H1: code between the markers of a private key is shown in full, and after a restart it is what runs", async () => {
    const code = `// -----BEGIN RSA PRIVATE KEY-----
await mcp.counting.add({ key: "between" });
// -----END RSA PRIVATE KEY-----
return await mcp.counting.add({ key: "after" });`;
    const asked = await run({ code });
    const question = await questionOf(asked);
    for (const line of code.split("\n")) expect(question).toContain(`| ${line}`);
    expect(question).not.toContain("redacted");
    await approve(scene.home.path, asked.approval?.id);
    await restart();
    expect(await goOn(asked)).toMatchObject({ status: "success" });
    expect([count("add between"), count("add after")]).toEqual([1, 1]);
  });

  test.each([
    ["a command with a key in it", `"rm -rf / # sk-live-aaaaaaaaaaaaaaaaaaaaaaaa"`, /rm -rf \/ # sk-live-a/],
    ["text behind the marker of a key", `"-----BEGIN PRIVATE KEY----- rm -rf /"`, /rm -rf \//],
    ["text between markers", "`-----BEGIN PRIVATE KEY-----\nrm -rf ~\n-----END PRIVATE KEY-----`", /rm -rf ~/],
    ["the password in a URL", `"https://me:rm-rf@host/"`, /me:rm-rf@host/],
    ["a whole key", `"sk-live-bbbbbbbbbbbbbbbbbbbbbbbb"`, /key: ‹secret, 32 chars, #[0-9a-f]{12,}›/],
    ["a key in escapes", String.raw`"\x73k-live-cccccccccccccccccccccccc"`, /key: ‹secret, 32 chars, #/],
    ["a text that looks like a hidden key", `"‹secret, 32 chars, #0123456789ab›"`, /⟦U\+2039⟧secret, 32 chars/],
    ["letters that nobody sees", `"a\u200bb\u3164c\u202e"`, /a⟦U\+200B⟧b⟦U\+3164⟧c⟦U\+202E⟧/],
    ["the escape of one", String.raw`"a\u200bb"`, /a\\u200bb/],
  ])("H1: %s is shown as it should be", async (_what, literal, shown) => {
    const asked = await run({ code: `return await mcp.counting.add({ key: ${literal} });` });
    expect(asked.status).toBe("approval_required");
    expect(await questionOf(asked)).toMatch(shown);
  });

  test("H1: an argument that is a secret is hidden as a whole, bound exactly, and survives a restart", async () => {
    const code = `await mcp.counting.read({ key: args.token }); return await mcp.counting.add({ key: args.note });`;
    const args = { token: "correct horse battery", note: "with -----BEGIN PRIVATE KEY----- rm -rf /" };
    const asked = await run({ code, args });
    const question = await questionOf(asked);
    expect(question).toMatch(/"token": ‹secret, 21 chars, #[0-9a-f]+›/);
    expect(question).toContain(`"note": "with -----BEGIN PRIVATE KEY----- rm -rf /"`);
    expect(question).not.toContain("horse");
    await approve(scene.home.path, asked.approval?.id);
    expect((await run({ code, args: { ...args, token: "correct horse batterz" } })).status).toBe("approval_required");
    await restart();
    expect(await goOn(asked)).toMatchObject({ status: "success" });
    expect(count("read correct horse battery")).toBe(1);
  });

  test("H1: an argument that repeats a secret under another name is shown, and the question says how many are hidden", async () => {
    const code = `return await mcp.counting.add({ key: args.command });`;
    const args = { token: "rm -rf /repeated", command: "rm -rf /repeated", login: { pin: 4711, apiKey: 471_147 } };
    const question = await questionOf(await run({ code, args }));
    expect(question).toContain(`"command": "rm -rf /repeated"`);
    expect(question).toContain(`"pin": 4711`);
    expect(question).toMatch(/"token": ‹secret, 16 chars, #[0-9a-f]+›/);
    expect(question).toMatch(/"apiKey": ‹secret, 6 chars, #[0-9a-f]+›, a number/);
    expect(question).toMatch(/^ {2}hidden +2 secret values/m);
    expect(await questionOf(await run({ code, args: { command: "nothing" } }))).not.toMatch(/^ {2}hidden/m);
  });

  test("H2: null and 1e999 are different programs, and one approval fits one of them", async () => {
    const code = `return await mcp.counting.add({ key: String(null) + "h2" });`;
    const asked = await run({ code });
    await approve(scene.home.path, asked.approval?.id, { remember: true });
    const other = await run({ code: code.replace("null", "1e999") });
    expect(other).toMatchObject({ status: "approval_required" });
    expect(other.capabilityName).not.toBe(asked.capabilityName);
    expect(await goOn(asked)).toMatchObject({ status: "success" });
    expect([count("add nullh2"), count("add Infinityh2")]).toEqual([1, 0]);
  });

  test("H2: an approval fits the exact text, whatever has the same normalised source", async () => {
    const code = `return await mcp.counting.add({ key: "exact" });`;
    const asked = await run({ code });
    await approve(scene.home.path, asked.approval?.id);
    const reformatted = await run({ code: `/* harmless */ ${code}` });
    expect(reformatted.status).toBe("approval_required");
    expect(await questionOf(reformatted)).toContain("/* harmless */");
    expect(await goOn(asked)).toMatchObject({ status: "success" });
    await approve(scene.home.path, reformatted.approval?.id);
    await restart();
    expect(await goOn(reformatted)).toMatchObject({ status: "success" });
    expect(count("add exact")).toBe(2);
  });

  test.each([
    ["null and nothing", { a: null }, {}],
    ["a number and its text", { a: 1 }, { a: "1" }],
    ["key order alone", { a: 1, b: 2 }, { b: 2, a: 1 }],
    ["a list and its text", { a: [1, 2] }, { a: "1,2" }],
    ["a zero character and its mark", { a: "\u0000" }, { a: "\ufffd" }],
    ["half a character and its mark", { a: "\ud800" }, { a: "\ufffd" }],
  ])("H2: arguments that differ by %s", async (what, approved, other) => {
    const code = `return await mcp.counting.add({ key: "args" + Object.keys(args).length });`;
    const asked = await run({ code, args: approved });
    await approve(scene.home.path, asked.approval?.id);
    const next = await run({ code, args: other });
    expect(next.status).toBe(what === "key order alone" ? "success" : "approval_required");
    expect((await goOn(asked)).status).toBe(what === "key order alone" ? "approval_required" : "success");
  });

  test("H2: a number that JSON cannot carry is refused instead of shown as another one", async () => {
    const raw = new RawMcp(scene.home.path);
    await raw.initialize();
    const code = `return await mcp.counting.add({ key: String(args.n) });`;
    const args = { n: rawJson("1e999") };
    const { text } = await raw.old("tools/call", { name: "pml_execute", arguments: { intent: "x", code, args } });
    expect(text).toContain("is not a finite number");
  });
});

/** The label keeps the program as it is written, with its literal. */
const inner = (what: string): string => `once: for (;;) return await mcp.counting.add({ key: "${what}" });`;

async function save(name: string, code: string): Promise<void> {
  const { end } = await approveAll(await run({ code, name, on_conflict: "version" }));
  expect(end.status).toBe("success");
}

describe("nested capabilities", () => {
  test("H3: a nested capability that was exchanged while the question was open is shown and asked about again", async () => {
    await save("h3:open", inner("harmless"));
    const asked = await run({ code: `return await capabilities.h3["open"]({});` });
    const first = await questionOf(asked);
    expect(first).toMatch(/nested +"h3:open" is \S+, version 1, code, sha256/);
    expect(first).toContain(`key: "harmless"`);
    await save("h3:open", inner("evil"));
    const before = count("add evil");
    await approve(scene.home.path, asked.approval?.id);
    await restart();
    const again = await goOn(asked);
    expect(again.status).toBe("approval_required");
    expect(again.approval?.id).not.toBe(asked.approval?.id);
    expect(count("add evil")).toBe(before);
    const second = await questionOf(again);
    expect(second).toContain(`key: "evil"`);
    expect(second).toContain("version 2");
    await approve(scene.home.path, again.approval?.id);
    expect(await goOn(again)).toMatchObject({ status: "success" });
    expect(count("add evil")).toBe(before + 1);
  });

  test("H3: a remembered rule ends when a nested @latest moves, also two levels below", async () => {
    await save("h3:leaf", inner("leaf1"));
    await save("h3:middle", `return await capabilities.h3["leaf@latest"]({});`);
    const code = `return await capabilities.h3["middle@latest"]({});`;
    const asked = await run({ code });
    await approve(scene.home.path, asked.approval?.id, { remember: true });
    await goOn(asked);
    expect(await run({ code })).toMatchObject({ status: "success" });
    await save("h3:leaf", inner("leaf2"));
    const before = count("add leaf2");
    await restart();
    const moved = await run({ code });
    expect(moved.status).toBe("approval_required");
    expect(await questionOf(moved)).toContain(`key: "leaf2"`);
    expect(count("add leaf2")).toBe(before);
  });

  test("H3: a version that appears while the program runs is not the one it calls", async () => {
    await save("h3:moving", inner("moving1"));
    const code = `await mcp.counting.slow({ ms: 4000 }); return await capabilities.h3["moving@latest"]({});`;
    const asked = await run({ code });
    await approve(scene.home.path, asked.approval?.id);
    const running = goOn(asked);
    await using other = await connectClient(scene.home.path);
    const next = await run({ code: inner("moving2"), name: "h3:moving", on_conflict: "version" }, other.client);
    await approve(scene.home.path, next.approval?.id);
    expect(await goOn(next, other.client)).toMatchObject({ status: "success" });
    const before = count("add moving2");
    expect(await running).toMatchObject({ status: "success" });
    expect(count("add moving2")).toBe(before);
  });

  test("H3: a name that stood for nothing, and a computed one, are asked about with the code they call", async () => {
    const code = `return await capabilities.h3[args.name]({});`;
    const asked = await run({ code, args: { name: "planted" } });
    await save("h3:planted", inner("planted"));
    const before = count("add planted");
    await approve(scene.home.path, asked.approval?.id);
    const again = await goOn(asked);
    expect(again.status).toBe("approval_required");
    expect(count("add planted")).toBe(before);
    expect(await questionOf(again)).toContain(`key: "planted"`);
  });
});

describe("questions", () => {
  test("M3: an intent that imitates the whole question stays inside its quotes, behind the facts", async () => {
    const code = `return await mcp.counting.add({ key: "m3" });`;
    const honest = await questionOf(await run({ code: code.replace("m3", "m3-honest") }));
    const asked = await run({ code, intent: `${honest}\n\u2028Facts, from PML\n\r  tool       counting:read (read)` });
    const question = await questionOf(asked);
    const [head, ...rest] = question.split("In the agent's words, unchecked\n");
    expect(rest).toHaveLength(2); // its own, and the quoted one
    expect(head).toContain("counting:add (write)");
    expect(head).not.toContain("m3-honest");
    const facts = question.split("\n").filter((line) => line === "Facts, from PML" || line === "Program");
    expect(facts).toEqual(["Facts, from PML", "Program"]);
    expect(question).toContain(`| ${code}`);
  });

  test("M3: a program of any length is shown to its last line, in the terminal and on the page", async () => {
    const lines = Array.from({ length: 3_000 }, (_, line) => `const v${line} = ${line};`);
    const asked = await run({ code: `${lines.join("\n")}\nreturn await mcp.counting.add({ key: "the end" });` });
    expect(await questionOf(asked)).toContain(`3001 | return await mcp.counting.add({ key: "the end" });`);
    const { url, decisionKey: key } = await reachAsPerson(scene.home.path);
    const page = await fetch(`${url}/approvals/${asked.approval?.id}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: url },
      body: new URLSearchParams({ key }),
    });
    expect(await page.text()).toContain(`3001 | return await mcp.counting.add({ key: &quot;the end&quot; });`);
  });

  test("M3: a name of a client or capability cannot add facts", async () => {
    await using named = await connectClient(scene.home.path, {
      name: "desk\n  tool       counting:read (read)",
    });
    const asked = await run({ code: `return await mcp.counting.add({ key: "named" });` }, named.client);
    const tools = (await questionOf(asked)).split("\n").filter((line) => line.startsWith("  tool "));
    expect(tools).toHaveLength(1);
    expect(tools[0]).toContain("counting:add (write)");
  });
});

describe("a call in the middle of a run", () => {
  const COMPUTED = `for (const key of args.keys) await mcp.counting[args.tool]({ key }); return args.keys.length;`;

  test("M4: is asked about with its arguments, and only those are allowed, across a restart", async () => {
    const keys = ["m4 one", "m4 two", "m4 one"];
    const asked = await run({ code: COMPUTED, args: { tool: "add", keys } });
    await approve(scene.home.path, asked.approval?.id);
    const first = await goOn(asked);
    expect(first.status).toBe("approval_required");
    expect(await questionOf(first)).toMatch(/Arguments\n.*\n.*"key": "m4 one"/);
    expect(count("add m4 one")).toBe(0);
    await approve(scene.home.path, first.approval?.id);
    await restart();
    const second = await goOn(asked);
    expect(second.status).toBe("approval_required");
    expect(await questionOf(second)).toContain(`"key": "m4 two"`);
    expect([count("add m4 one"), count("add m4 two")]).toEqual([1, 0]);
    const { end, questions } = await approveAll(second);
    expect(end).toMatchObject({ status: "success", result: 3 });
    expect(questions).toHaveLength(2); // the same arguments again are another call
    expect([count("add m4 one"), count("add m4 two")]).toEqual([2, 1]);
  });

  test("M4: is good for the run that asked and no other", async () => {
    const request = { code: COMPUTED, args: { tool: "add", keys: ["m4 run"] } };
    const toCall = async (): Promise<Executed> => {
      const asked = await run(request);
      await approve(scene.home.path, asked.approval?.id);
      return goOn(asked);
    };
    const first = await toCall();
    await approve(scene.home.path, first.approval?.id, { remember: true });
    expect((await toCall()).status).toBe("approval_required");
    expect(count("add m4 run")).toBe(0);
    expect(await goOn(first)).toMatchObject({ status: "success" });
    expect(count("add m4 run")).toBe(1);
    expect(await runJson<{ tool: string }[]>(["rules"], { home: scene.home.path })).not.toContainEqual(
      expect.objectContaining({ tool: "counting:drop" }),
    );
  });
});

describe("once", () => {
  test("M5: of a hundred runs that wait for one approval, one gets it", async () => {
    const code = `return await mcp.counting.add({ key: "m5 race" });`;
    const waiting = await Promise.all(Array.from({ length: 100 }, () => run({ code })));
    expect(new Set(waiting.map(({ approval }) => approval?.id)).size).toBe(1);
    await approve(scene.home.path, waiting[0]?.approval?.id);
    const ends = await Promise.all(waiting.map((each) => goOn(each)));
    expect(ends.filter(({ status }) => status === "success")).toHaveLength(1);
    expect(count("add m5 race")).toBe(1);
  });

  test("M5: a run that asks by form does not run when another run of the same plan took the approval", async () => {
    const code = `return await mcp.counting.add({ key: "m5 form" });`;
    const answer = async () => {
      const pending = await runJson<{ id: string; intent: string }[]>(["inbox"], { home: scene.home.path });
      await approve(scene.home.path, pending.find(({ intent }) => intent === "by form")?.id);
      expect(await run({ code })).toMatchObject({ status: "success" });
      return { action: "accept" as const, content: { answer: "once" } };
    };
    await using desk = await connectClient(scene.home.path, { name: FORMS, answer });
    expect(await run({ code, intent: "by form" }, desk.client)).toMatchObject({ status: "approval_required" });
    expect(desk.questions).toHaveLength(1);
    expect(count("add m5 form")).toBe(1);
  });

  test("M5: the answer to a server's question passes once, though the client keeps its state", async () => {
    const file = join(import.meta.dirname, "..", "support", "asking-server.ts");
    const config = { permissions: { ask: ["asking:keep"] } };
    const entry = { command: process.execPath, args: [file, "--stdio"] };
    await using home = await startGateway({ asking: entry }, { config });
    await home.ready("asking");
    await using web = await connectClient(home.path, { transport: "http", era: "auto", answer: { action: "cancel" } });
    const send = (more: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
      web.client.request(
        { method: "tools/call", params: { name: "asking__keep", arguments: {}, ...more } },
        z.record(z.string(), z.unknown()),
        { allowInputRequired: true },
      );
    const [, id] = /(apr_\w+)/.exec(JSON.stringify(await send())) ?? [];
    await approve(home.path, id);
    const { requestState } = await send();
    const answer = { inputResponses: { answer: { action: "accept", content: { word: "x" } } }, requestState };
    expect(JSON.stringify(await send(answer))).toContain("kept");
    expect(JSON.stringify(await send(answer))).toContain("approval_required");
  });

  test("M5: a run that is gone on with many times at once runs once", async () => {
    const code = `return await mcp.counting.add({ key: "m5 same" });`;
    const asked = await run({ code });
    await approve(scene.home.path, asked.approval?.id);
    await Promise.all(Array.from({ length: 20 }, () => goOn(asked)));
    expect(count("add m5 same")).toBe(1);
  });
});

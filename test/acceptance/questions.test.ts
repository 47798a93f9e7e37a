/** Elicitation by servers during a call reaches the caller of that call, and no one else. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { createAskingServer } from "../support/asking-server.ts";
import { call, shareGateway, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { startRemoteServer } from "../support/remote-server.ts";
import { until } from "../support/pml.ts";

/** Simulates a user who answers with their own word, at once or when released. */
function createUser(word: string): {
  readonly answer: (message: string) => Promise<{ action: "accept"; content: { word: string } }>;
  hold(): void;
  release(): void;
} {
  let held: PromiseWithResolvers<void> | undefined;
  return {
    async answer() {
      await held?.promise;
      return { action: "accept", content: { word } };
    },
    hold: () => void (held = Promise.withResolvers<void>()),
    release: () => held?.resolve(),
  };
}

function asking(era: "--stdio" | "--legacy"): McpServerEntry {
  return { command: process.execPath, args: [join(import.meta.dirname, "..", "support", "asking-server.ts"), era] };
}

async function startServer(kind: "program" | "address"): Promise<{ entry: McpServerEntry } & AsyncDisposable> {
  if (kind === "program") return { entry: asking("--legacy"), [Symbol.asyncDispose]: async () => undefined };
  const remote = await startRemoteServer({ era: "2025", create: createAskingServer });
  return { entry: { url: remote.url }, [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose]() };
}

/** Two clients of one asking server; the first has a question open and does not answer. */
async function startScene(kind: "program" | "address", era: "legacy" | "auto") {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startServer(kind));
  const home = stack.use(await startGateway({ asking: server.entry }));
  await home.ready("asking");
  const slow = createUser("slow");
  const options = { era, transport: "http" } as const;
  const first = stack.use(await connectClient(home.path, { ...options, answer: slow.answer }));
  const second = stack.use(await connectClient(home.path, { ...options, answer: createUser("quick").answer }));
  slow.hold();
  const open = call(first.client, "asking__ask", { who: "first" });
  await until("the first client is asked", () => first.questions.length === 1);
  const running = stack.move();
  return {
    first,
    second,
    open,
    release: () => slow.release(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const plain = { isError: false, text: "plain" };

test.each(["legacy", "auto"] as const)(
  "a question that nobody answers keeps only calls waiting that ask as well (a program, %s clients)",
  async (era) => {
    await using scene = await startScene("program", era);
    const { first, second } = scene;
    for (let times = 0; times < 5; times += 1) expect(await call(second.client, "asking__plain")).toEqual(plain);
    const other = call(second.client, "asking__ask", { who: "second" });
    expect(await call(second.client, "asking__plain")).toEqual(plain);
    expect(second.questions).toEqual([]);
    scene.release();
    expect((await scene.open).text).toMatch(/^first: .*"slow"/);
    expect((await other).text).toMatch(/^second: .*"quick"/);
    expect(first.questions).toEqual(["[asking] A word for first?"]);
    expect(second.questions).toEqual(["[asking] A word for second?"]);
  },
);

test.each(["legacy", "auto"] as const)(
  "a question that nobody answers keeps no call waiting (an address, %s clients)",
  async (era) => {
    await using scene = await startScene("address", era);
    const { first, second } = scene;
    expect(await call(second.client, "asking__plain")).toEqual(plain);
    for (let times = 0; times < 3; times += 1) {
      expect((await call(second.client, "asking__ask", { who: "second" })).text).toMatch(/^second: .*"quick"/);
    }
    scene.release();
    expect((await scene.open).text).toMatch(/^first: .*"slow"/);
    expect(first.questions).toEqual(["[asking] A word for first?"]);
    expect(new Set(second.questions)).toEqual(new Set(["[asking] A word for second?"]));
  },
);

test.each(["program", "address"] as const)(
  "of many questions at once none reaches another client, not even the first (%s) [mcp-21]",
  async (kind) => {
    await using server = await startServer(kind);
    await using home = await startGateway({ asking: server.entry });
    await home.ready("asking");
    const names = ["ada", "bob", "cem"];
    const clients = await Promise.all(
      names.map((name, index) =>
        connectClient(home.path, {
          transport: "http",
          era: index === 0 ? "legacy" : "auto",
          answer: createUser(name).answer,
        }),
      ),
    );
    await using stack = new AsyncDisposableStack();
    for (const client of clients) stack.use(client);
    const ask = (index: number) => call(clients[index]!.client, "asking__ask", { who: names[index] });
    const round = () => Promise.all([...names.keys(), ...names.keys(), ...names.keys()].map(ask));
    const first = await round();
    const results = [...first, ...(await round()), ...(await round())];
    for (const [index, { text, isError }] of results.entries()) {
      const name = names[index % names.length];
      // A question may be refused only until the gateway has learned that the tool asks.
      const refusal = index < first.length && isError ? "|cannot tell which" : "";
      expect(text).toMatch(new RegExp(`^${name}: .*"word":"${name}"${refusal}`));
    }
    for (const [index, { questions }] of clients.entries()) {
      for (const question of questions) expect(question).toBe(`[asking] A word for ${names[index]}?`);
    }
  },
);

describe("with servers of both eras", () => {
  const home = shareGateway({ current: asking("--stdio"), old: asking("--legacy") });

  describe.each(clientKinds)("a client over $transport, $era", (kind) => {
    test("is asked by servers of both eras, with a form or for a page, and told which one asks [mcp-21]", async () => {
      await using connected = await connectClient(home().path, { ...kind, answer: createUser("mine").answer });
      const { client, questions } = connected;
      for (const server of ["current", "old"]) {
        expect((await call(client, `${server}__ask`, { who: "me" })).text).toMatch(/^me: .*"word":"mine"/);
        expect((await call(client, `${server}__visit`)).text).toContain(`"action":"accept"`);
        expect(questions.splice(0)).toEqual([
          `[${server}] A word for me?`,
          `[${server}] Look at this: https://example.com/page`,
        ]);
      }
    });

    test("that cannot answer is not waited for: the call says what it would have needed [mcp-23]", async () => {
      await using connected = await connectClient(home().path, kind);
      for (const server of ["current", "old"]) {
        const outcome = await call(connected.client, `${server}__sample`).then(
          ({ text, isError }) => `${isError} ${text}`,
          (error: unknown) => `true ${String(error)}`,
        );
        expect(outcome).toMatch(/^true .*(sampling|createMessage)/);
        expect(await call(connected.client, `${server}__plain`)).toEqual(plain);
      }
    });
  });
});

test("an answer counts for the question it was asked with: an altered state is refused, and so is a second answer [mcp-22]", async () => {
  await using home = await startGateway({ old: asking("--legacy") });
  await home.ready("old");
  await using connected = await connectClient(home.path, {
    transport: "http",
    era: "auto",
    answer: { action: "cancel" },
  });
  const send = (more: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const params = { name: "old__ask", arguments: { who: "me" }, ...more };
    return connected.client.request({ method: "tools/call", params }, z.record(z.string(), z.unknown()), {
      allowInputRequired: true,
    });
  };
  const asked = await send({});
  expect(asked).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const state = String(asked["requestState"]);
  const inputResponses = { answer: { action: "accept", content: { word: "mine" } } };
  const altered = `${state.slice(0, -4)}${state.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
  await expect(send({ inputResponses, requestState: altered })).rejects.toMatchObject({ code: -32_602 });
  const answered = await send({ inputResponses, requestState: state });
  expect(JSON.stringify(answered)).toContain("mine");
  await expect(send({ inputResponses, requestState: state })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining("not waiting any more"),
  });
});

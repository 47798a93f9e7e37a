/** Questions of servers in the middle of a call: who is asked, and what becomes of the call. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { RawMcp } from "../support/raw-mcp.ts";
import { servers } from "../support/upstream-servers.ts";

const answer = (name: string): ElicitResult => ({
  action: "accept",
  content: { username: name, email: `${name}@b.de` },
});
const elicitation = { elicitation: { form: {}, url: {} } };

describe.each(clientKinds)("a client over $transport, $era", (kind) => {
  test("is asked by servers of both eras, in their name; of two clients at once each gets its own question [mcp-21]", async () => {
    await using home = await startGateway({ today: servers.fixture(), old: servers.fixture("--legacy") });
    await home.ready("today", "old");
    await using ada = await connectClient(home.path, { ...kind, answer: answer("ada") });
    await using bob = await connectClient(home.path, { ...kind, answer: answer("bob") });
    for (const server of ["today", "old"]) {
      const tool = `${server}__test_elicitation`;
      const [first, second] = await Promise.all([
        call(ada.client, tool, { message: "for Ada" }),
        server === "today" ? call(bob.client, tool, { message: "for Bob" }) : sleep(0, { text: "" }),
      ]);
      expect(first.text).toContain(`"username":"ada"`);
      // A server of 2025 cannot say which of two calls it asks about: they are made one after the other.
      const later = server === "today" ? second : await call(bob.client, tool, { message: "for Bob" });
      expect(later.text).toContain(`"username":"bob"`);
    }
    expect(ada.questions).toEqual(["[today] for Ada", "[old] for Ada"]);
    expect(bob.questions).toEqual(["[today] for Bob", "[old] for Bob"]);
  });

  test("that cannot be asked for a model's answer: the server hears so, and nothing hangs [mcp-23]", async () => {
    await using home = await startGateway({ today: servers.fixture(), old: servers.fixture("--legacy") });
    await home.ready("today", "old");
    await using connected = await connectClient(home.path, kind);
    for (const server of ["today", "old"]) {
      const asked = await call(connected.client, `${server}__test_sampling`, { prompt: "hi" }).then(
        ({ isError, text }) => ({ isError, text }),
        (error: unknown) => ({ isError: true, text: String(error) }),
      );
      expect([server, asked.isError]).toEqual([server, true]);
      expect(asked.text).toMatch(/sampling|capabilit/i);
      expect((await call(connected.client, `${server}__test_simple_text`)).isError).toBe(false);
    }
  });
});

test("a call that waits for an answer goes on with it once, and refuses a forged or missing one [mcp-22]", async () => {
  await using home = await startGateway({ everything: servers.everything });
  await home.ready("everything");
  const raw = new RawMcp(home.path);
  const params = { name: "everything__trigger_elicitation_request", arguments: {} };
  const ask = async (more: object = {}) =>
    (await raw.current("tools/call", { ...params, ...more }, elicitation)).message;

  const first = await ask();
  expect(first.result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const state = String(first.result?.["requestState"]);
  const inputResponses = { answer: { action: "decline" } };
  const forged = `${state.slice(0, -4)}${state.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
  expect((await ask({ requestState: forged, inputResponses })).error?.code).toBe(-32_602);
  expect((await ask({ requestState: state, inputResponses: {} })).error?.code).toBe(-32_602);
  const done = await ask({ requestState: state, inputResponses });
  expect(JSON.stringify(done.result)).toContain("declined");
  // The answer was used up.
  expect((await ask({ requestState: state, inputResponses })).error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining("not waiting any more"),
  });
});

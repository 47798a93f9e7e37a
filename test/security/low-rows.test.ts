import { afterAll, beforeAll, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { execute } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { addressOf, sendRaw } from "../support/raw-http.ts";
import { runPml } from "../support/pml.ts";

let scene: CountingScene;
beforeAll(async () => {
  scene = await openCountingScene();
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
  expect(shown[1]).toContain(String.raw`const \u{3164} =`);
});

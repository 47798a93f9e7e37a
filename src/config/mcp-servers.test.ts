import { expect, test } from "vitest";
import { resolveServers } from "./mcp-servers.ts";

const env = { TOKEN: "abc", EMPTY: "" };

test("resolveServers expands all three spellings everywhere they are allowed", () => {
  const [server] = resolveServers(
    {
      a: {
        command: "${env:TOKEN}",
        args: ["x-${TOKEN}", "$TOKEN", "${NONE:-fallback}", "${EMPTY:-empty}"],
        env: { KEY: "${TOKEN}" },
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
    },
    env,
  );
  expect(server).toEqual({
    name: "a",
    state: "usable",
    entry: {
      command: "abc",
      args: ["x-abc", "$TOKEN", "fallback", "empty"],
      env: { KEY: "abc" },
      headers: { Authorization: "Bearer abc" },
    },
  });
});

test("resolveServers makes only the server unusable whose variable is not set, and names it", () => {
  const servers = resolveServers(
    { a: { command: "x", env: { K: "${MISSING}" } }, b: { url: "http://127.0.0.1/${TOKEN}" } },
    env,
  );
  expect(servers).toEqual([
    { name: "a", state: "unusable", reason: "MISSING is not set" },
    { name: "b", state: "usable", entry: { url: "http://127.0.0.1/abc" } },
  ]);
});

test("resolveServers leaves disabled entries alone, in both spellings", () => {
  const states = resolveServers(
    { a: { command: "${MISSING}", disabled: true }, b: { command: "x", enabled: false } },
    env,
  );
  expect(states.map(({ state }) => state)).toEqual(["disabled", "disabled"]);
});

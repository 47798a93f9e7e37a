import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { servers } from "../../test/support/upstream-servers.ts";
import { createLogger } from "../base/log.ts";
import { ProcessGroups } from "./connection/process-groups.ts";
import { UpstreamServer } from "./upstream-server.ts";

/** Speaks the 2025 era and does something else with whatever it does not know. */
function oldServer(atUnknown: string): string {
  return `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize")
        answer({ protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "old", version: "1" } });
      else if (id !== undefined) { ${atUnknown} }
    });`;
}

const refuse = `console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }))`;
const node = process.execPath;

test.each([
  ["refuses the question", { command: node, args: ["-e", oldServer(refuse)] }, "2025-06-18"],
  ["ends at the question", { command: node, args: ["-e", oldServer("process.exit(1)")] }, "2025-06-18"],
  ["leaves the question unanswered", { command: node, args: ["-e", oldServer("")] }, "2025-06-18"],
  ["speaks both eras", servers.fixture(), "2026-07-28"],
])("UpstreamServer connects to a child process that %s", async (_name, entry, protocol) => {
  const limits = {
    connectMs: 10_000,
    callMs: 10_000,
    longestCallMs: 10_000,
    inFlight: 4,
    queued: 4,
    messageBytes: 1024 * 1024,
  };
  await using home = await makeFolder();
  const log = createLogger({ level: "silent", file: undefined, secrets: [] });
  await using server = new UpstreamServer({
    name: "server",
    entry,
    limits,
    log,
    groups: new ProcessGroups(home.path, log),
    onOffer: () => undefined,
    onNotification: () => undefined,
  });
  await server.connect();
  expect(server.status.protocol).toBe(protocol);
});

/** The gateway probes a server's protocol once a day, and loses no notification when a stream breaks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { startRemoteServer } from "../support/remote-server.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

async function restart(home: GatewayHome, name: string): Promise<void> {
  await runPml(["down"], { home: home.path });
  await runJson(["up"], { home: home.path });
  await home.ready(name);
}

test("a program that leaves the question unanswered is asked once, and again when its entry changed [mcp-32]", async () => {
  await using folder = await makeFolder();
  const notes = join(folder.path, "methods");
  const asked = (): number =>
    readFileSync(notes, "utf8")
      .split("\n")
      .filter((each) => each === "server/discover").length;
  const mute = servers.chaos("mute", "--mute", `--methods=${notes}`);
  await using home = await startGateway({ mute });
  await home.ready("mute");
  expect(asked()).toBe(1);
  await restart(home, "mute");
  await restart(home, "mute");
  expect(asked()).toBe(1);
  writeConfig(home.path, { mcpServers: { mute: { ...mute, env: { CHANGED: "yes" } } } });
  await until("it is asked anew", () => asked() === 2);
});

/** A server that gains a tool with each call of `grow`. */
function createGrowing(): { readonly create: () => McpServer; grow(): void } {
  let count = 1;
  return {
    grow: () => void (count += 1),
    create() {
      const mcp = new McpServer(
        { name: "growing", version: "1.0.0" },
        { capabilities: { tools: { listChanged: true } } },
      );
      for (let index = 1; index <= count; index += 1) {
        mcp.registerTool(`tool${index}`, { description: "One of several" }, () => ({ content: [] }));
      }
      return mcp;
    },
  };
}

test("a remote server of the current protocol is asked once; what changed while its stream was broken is noticed", async () => {
  const growing = createGrowing();
  await using remote = await startRemoteServer({ era: "current", create: growing.create });
  await using home = await startGateway({ remote: { url: remote.url } });
  await home.ready("remote");
  expect(await home.server("remote")).toMatchObject({ protocol: "2026-07-28" });
  await restart(home, "remote");
  expect(remote.methods.filter((method) => method === "server/discover")).toHaveLength(1);

  await using connected = await connectClient(home.path);
  const lists = async (tool: string): Promise<boolean> =>
    (await connected.client.listTools()).tools.some(({ name }) => name === tool);
  const listened = (): number => remote.methods.filter((method) => method === "subscriptions/listen").length;
  const before = listened();
  remote.dropStreams();
  growing.grow(); // without a notification, since no stream is open
  await until("it is listened to again, and the lists are read", () => lists("remote__tool2"));
  expect(listened()).toBeGreaterThan(before);
  growing.grow();
  remote.toolsChanged();
  await until("a notice on the new stream counts", () => lists("remote__tool3"));
  await until("the client was told", () => connected.toolChanges.count > 0);
});

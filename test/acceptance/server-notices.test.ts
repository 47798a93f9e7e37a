import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { shareGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

/** Longer than any pending notification takes. */
const QUIET_MS = 300;

const home = shareGateway({ current: servers.fixture(), old: servers.fixture("--legacy") });

describe.each(clientKinds)("a client over $transport, $era", (kind) => {
  test("hears of the resources it asked for and gets the log messages it wants, from servers of both eras [mcp-20]", async () => {
    await using connected = await connectClient(home().path, kind);
    const { client } = connected;
    const updated: string[] = [];
    const logged: unknown[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
    client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data));
    const watch = async (uri: string): Promise<() => Promise<unknown>> => {
      if (kind.era === "legacy") {
        await client.subscribeResource({ uri });
        return () => client.unsubscribeResource({ uri });
      }
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return () => subscription.close();
    };

    for (const server of ["current", "old"]) {
      const uri = `pml+${server}:test://watched-resource`;
      const change = { name: `${server}__test_trigger_resource_change`, arguments: {} };
      const stop = await watch(uri);
      await until("the update arrives", async () => {
        await client.callTool(change);
        return updated.includes(uri);
      });
      await stop();
      await sleep(QUIET_MS);
      updated.length = 0;
      await client.callTool(change);
      await sleep(QUIET_MS);
      expect(updated).toEqual([]);

      const log = { name: `${server}__test_tool_with_logging`, arguments: {} };
      await client.callTool(log);
      expect(logged).toEqual([]);
      const wanted = { ...log, _meta: { "io.modelcontextprotocol/logLevel": "info" } };
      if (kind.era === "legacy") await client.setLoggingLevel("info");
      await client.callTool(kind.era === "legacy" ? log : wanted);
      // The last message races the result inside the client.
      expect(logged.slice(0, 2)).toEqual(["Tool execution started", "Tool processing data"]);
      logged.length = 0;
      if (kind.era === "legacy") await client.setLoggingLevel("emergency");
    }
  });
});

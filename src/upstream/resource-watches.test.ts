import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { ResourceWatches } from "./resource-watches.ts";

function recordingClient(refused?: string): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const client = {
    getProtocolEra: () => "legacy",
    request: async ({ method, params }: { method: string; params: { uri: string } }) => {
      if (params.uri === refused) throw new Error("no such resource");
      asked.push(`${method} ${params.uri}`);
      return {};
    },
  };
  return { client: client as unknown as Client, asked };
}

test("ResourceWatches asks the server once, until the last watcher leaves", async () => {
  const watches = new ResourceWatches(() => undefined);
  const { client, asked } = recordingClient();
  const [first, second] = await Promise.all([watches.add("a:1", client), watches.add("a:1", client)]);
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  expect(asked).toEqual(["resources/subscribe a:1"]);
  await second[Symbol.asyncDispose]();
  expect(asked).toEqual(["resources/subscribe a:1", "resources/unsubscribe a:1"]);
});

test("ResourceWatches asks again after a restart, and goes on where one is refused", async () => {
  const watches = new ResourceWatches(() => undefined);
  const before = recordingClient();
  await watches.add("a:1", before.client);
  await watches.add("a:2", before.client);
  const after = recordingClient("a:1");
  await watches.restore(after.client);
  expect(after.asked).toEqual(["resources/subscribe a:2"]);
});

test("ResourceWatches tells whoever asked that the server refused, and asks anew the next time", async () => {
  const watches = new ResourceWatches(() => undefined);
  await expect(watches.add("a:1", recordingClient("a:1").client)).rejects.toThrow("no such resource");
  const { client, asked } = recordingClient();
  await watches.add("a:1", client);
  expect(asked).toEqual(["resources/subscribe a:1"]);
});

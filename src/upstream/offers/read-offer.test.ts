import { Client, InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { ChangeBudget } from "./change-budget.ts";
import type { Offer } from "./offer.ts";
import { OfferReader } from "./read-offer.ts";

const inputSchema = { type: "object" };

type Answer = (method: string, cursor: string | undefined) => unknown;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: { readonly cursor?: string };
}

/** A client of a server that answers as told; `asked` is what it was asked, in order. */
async function connect(
  capabilities: Record<string, unknown>,
  answer: Answer,
): Promise<{ client: Client; asked: string[] }> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const asked: string[] = [];
  const serverInfo = { name: "test", version: "1" };
  far.onmessage = (message) => {
    const { id, method, params } = message as unknown as Request;
    if ((id as number | undefined) === undefined) return;
    if (method !== "initialize") asked.push(method);
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-11-25", capabilities, serverInfo, instructions: "Hello" }
        : answer(method, params?.cursor);
    const reply = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
    void far.send({ jsonrpc: "2.0", id, ...reply } as unknown as JSONRPCMessage);
  };
  await far.start();
  const client = new Client({ name: "pml", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(near);
  return { client, asked };
}

function createReader(client: Client, budget = new ChangeBudget()): OfferReader {
  return new OfferReader(client, { timeoutMs: 1_000, budget });
}

test("OfferReader.read asks for all pages of what a server declares, and for nothing else", async () => {
  const { client, asked } = await connect({ tools: {}, resources: {} }, (method, cursor) => {
    if (method === "tools/list" && cursor === undefined)
      return { tools: [{ name: "a", inputSchema, odd: 1 }], nextCursor: "2" };
    if (method === "tools/list") return { tools: [{ name: "b", inputSchema }] };
    return method === "resources/list" ? { resources: [{ uri: "x:y", name: "y" }] } : undefined;
  });
  expect(await createReader(client).read()).toEqual({
    serverInfo: { name: "test", version: "1" },
    instructions: "Hello",
    capabilities: { tools: {}, resources: {} },
    tools: [
      { name: "a", inputSchema, odd: 1 },
      { name: "b", inputSchema },
    ],
    resources: [{ uri: "x:y", name: "y" }],
    resourceTemplates: [],
    prompts: [],
  });
  expect(asked).toEqual(["tools/list", "tools/list", "resources/list", "resources/templates/list"]);
});

test("OfferReader.read does not follow pages without end", async () => {
  const { client } = await connect({ tools: {} }, () => ({ tools: [], nextCursor: "again" }));
  await expect(createReader(client).read()).rejects.toThrow("did not end after 1000 pages");
});

test("OfferReader reads once for a bunch of changes, after a reading that is under way", async () => {
  let version = 1;
  const { client, asked } = await connect({ tools: {} }, () => ({ tools: [{ name: `v${version}`, inputSchema }] }));
  const reader = createReader(client);
  const first = reader.read();
  const taken: Offer[] = [];
  const changes = [1, 2, 3].map(() => reader.follow((offer) => void taken.push(offer)));
  expect((await first).tools).toEqual([{ name: "v1", inputSchema }]);
  version = 2;
  await Promise.all(changes);
  expect(taken.map(({ tools }) => tools)).toEqual([[{ name: "v2", inputSchema }]]);
  expect(asked).toHaveLength(2);
});

test("OfferReader reads the newest change only after the one before was taken", async () => {
  let version = 1;
  const { client, asked } = await connect({ tools: {} }, () => ({ tools: [{ name: `v${version++}`, inputSchema }] }));
  const reader = createReader(client);
  const taken: string[] = [];
  const take = async ({ tools }: Offer): Promise<void> => {
    taken.push(tools[0]?.name ?? "");
    if (taken.length > 1) return;
    for (let change = 0; change < 50; change += 1) await reader.follow(take);
  };
  await reader.follow(take);
  expect([taken, asked.length]).toEqual([["v1", "v2"], 2]);
});

test("OfferReader waits for the budget, and gives up with its connection", async () => {
  const { client, asked } = await connect({ tools: {} }, () => ({ tools: [] }));
  const budget = new ChangeBudget();
  budget.spend(32 * 1024 * 1024);
  const delays: number[] = [];
  const reader = new OfferReader(client, { timeoutMs: 1_000, budget, onDelay: (ms) => void delays.push(ms) });
  const followed = reader.follow(() => undefined);
  await client.close();
  expect(delays[0]).toBeGreaterThan(60_000);
  await followed;
  expect(asked).toEqual([]);
});

/** Proposed names describe the program and have no person, id or other word of one task. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { curate } from "../support/curation.ts";
import { makeFolder } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { servers } from "../support/upstream-servers.ts";

const text = { type: "string" };
const status = { type: "string", enum: ["pending", "delivered"] };

/** A shop whose tools say what they do, with the effect in their annotations. */
const TOOLS = [
  ["get_order", "Read an order.", { order_id: text }, true],
  ["list_orders", "List the orders of a user.", { user_id: text, status }, true],
  ["find_user_by_email", "Find a user by mail address.", { email: text }, true],
  ["cancel_order", "Cancel an order.", { order_id: text, reason: text }, false],
  ["exchange_items", "Exchange items of an order.", { order_id: text, items: { type: "array" } }, false],
  ["set_status", "Set the state of an order.", { order_id: text, status }, false],
  ["send_message", "Write to a user.", { to: text, body: text }, false],
  ["think", "Think about something.", { thought: text }, true],
] as const;

const RESULTS: Readonly<Record<string, unknown>> = {
  get_order: { id: "O-1", status: "pending", total: 12, user: "jinsoo@mail.example" },
  list_orders: { orders: [{ id: "O-1", total: 12 }] },
  find_user_by_email: { id: "jinsoo_park_7" },
};

interface Learned {
  readonly intent: string;
  readonly code: string;
  readonly args?: Record<string, unknown>;
}

const CANCEL = `const order = await mcp.shop.get_order({ order_id: "O-5136" });
  if (order.status === "pending") await mcp.shop.cancel_order({ order_id: "O-5136", reason: "ordered by mistake" });`;

/** The same words again and again: names of people, ids, and verbs that no tool has. */
const PROGRAMS: Readonly<Record<string, Learned>> = {
  exchange: {
    intent: "You are Jinsoo Park and think that the lamp of O-77 is too dim. Scour the offers and swap it for Yuki",
    code: `await mcp.shop.think({ thought: "Jinsoo wants a brighter lamp" });
      await mcp.shop.exchange_items({ order_id: "O-77", items: ["lamp"] }); return "swapped";`,
  },
  list: {
    intent: "scour whatever jinsoo.park@mail.example ever got from us",
    code: `const user = await mcp.shop.find_user_by_email({ email: args.email });
      return await mcp.shop.list_orders({ user_id: user.id });`,
    args: { email: "jinsoo.park@mail.example" },
  },
  cancel: { intent: "Jinsoo clicked by mistake, stop O-5136 if it waits", code: `${CANCEL} return "stopped";` },
  tell: {
    intent: "get rid of O-5136 for Mei Kovacs and drop jinsoo a line",
    code: `await mcp.shop.cancel_order({ order_id: "O-5136", reason: "moved" });
      await mcp.shop.send_message({ to: "jinsoo@mail.example", body: "It is gone" }); return "told";`,
  },
  set: {
    intent: "O-9 arrived at the Parks in Turin",
    code: `await mcp.shop.set_status({ order_id: args.order_id, status: args.status }); return "set";`,
    args: { order_id: "O-9", status: "delivered" },
  },
};

const stack = new AsyncDisposableStack();
let home: GatewayHome;
let client: Client;
const ids = new Map<string, string>();

beforeAll(async () => {
  const { path } = stack.use(await makeFolder());
  const file = join(path, "shop.json");
  const tools = TOOLS.map(([name, description, properties, readOnlyHint]) => ({
    name,
    description,
    inputSchema: { type: "object", properties },
    annotations: { readOnlyHint, destructiveHint: false },
  }));
  const results = Object.fromEntries(
    TOOLS.map(([name]) => [name, { content: [], structuredContent: RESULTS[name] ?? { done: true } }]),
  );
  writeFileSync(file, JSON.stringify({ tools, results }));
  const config = { permissions: { allow: ["shop:*"] }, curation: { afterUnnamed: 0, sampling: true } };
  home = stack.use(await startGateway({ shop: servers.scripted(file) }, { config }));
  await home.ready("shop");
  ({ client } = stack.use(await connectClient(home.path, { transport: "http", era: "auto" })));
  for (const [key, { intent, code, args = {} }] of Object.entries(PROGRAMS)) {
    const { capabilityId } = await execute(client, { intent, code, args });
    ids.set(key, capabilityId);
  }
});
afterAll(() => stack.disposeAsync());

const PERSONAL = /jinsoo|park|yuki|mei|kovacs|turin|lamp|scour|mistake|\d{2}/;

test("the call that changes something gives verb and object; of reads it is the last", async () => {
  const { suggestions } = await curate(client);
  const named = Object.fromEntries(
    [...ids].map(([key, id]) => [key, suggestions.find((each) => each.id === id)?.suggestedName]),
  );
  expect(named).toMatchObject({
    exchange: "api:exchange_items",
    list: "api:list_orders",
    set: "api:set_order_status",
  });
});

test("two that do nearly the same are told apart by what they do, not by whom they did it for", async () => {
  const { suggestions } = await curate(client);
  const names = ["cancel", "tell"].map((key) => suggestions.find(({ id }) => id === ids.get(key))?.suggestedName);
  expect(names).toContain("api:cancel_order");
  expect(names.some((name) => name === "api:cancel_order_if_pending" || name === "api:cancel_order_and_send")).toBe(
    true,
  );
});

test("no proposed name has a person, an id, a value or a leftover word", async () => {
  const { suggestions } = await curate(client);
  expect(suggestions).toHaveLength(ids.size);
  for (const { suggestedName } of suggestions) expect(suggestedName).not.toMatch(PERSONAL);
});

/** A model that calls everything after the person in the intent. */
function model(asked: string): string {
  const programs = JSON.parse((JSON.parse(asked) as { text: string }).text) as { n: number; intent: string }[];
  const about = programs.filter(({ intent }) => intent.includes("Jinsoo"));
  return JSON.stringify(about.map(({ n }) => ({ n, name: `api:help_jinsoo_${n}`, reason: "it helps Jinsoo" })));
}

test("a language model's name with such a word is not taken", async () => {
  await using lending = await connectClient(home.path, { transport: "http", era: "auto", model });
  const { suggestions, warnings } = await curate(lending.client);
  expect(warnings.join()).toMatch(/which has a word of one task only/);
  for (const { suggestedName } of suggestions) expect(suggestedName).not.toMatch(PERSONAL);
});

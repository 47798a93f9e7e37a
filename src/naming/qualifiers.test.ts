import { expect, test } from "vitest";
import { analyseProgram } from "../analysis/analyse-program.ts";
import type { Nameable } from "./nameable.ts";
import { proposeName } from "./propose-name.ts";

function nameable(intent: string, code: string): Nameable {
  const outcome = analyseProgram(code, { findTool: (server, tool) => ({ id: `${server}:${tool}` }) });
  if (outcome.kind === "syntax_error") throw new Error(outcome.problem.message);
  const { tools, structure, parameters } = outcome.program;
  const names = Object.keys(parameters["properties"] ?? {});
  return { id: "1", currentName: "unnamed_00000000", intents: [intent], code, tools, structure, parameters: names };
}

const read = "const order = await mcp.shop.get_order({ order_id: args.id });";
const cancel = "await mcp.shop.cancel_order({ order_id: order.id });";

test.each([
  [`${read} if (order.status === "pending") ${cancel}`, "if_pending"],
  [`${read} if (order.status !== "pending") return; ${cancel}`, "if_pending"],
  [`${read} if (order.tier !== "gold") ${cancel}`, "unless_gold"],
  [`${read} if (order.assignee === null) ${cancel}`, "without_assignee"],
  [`${read} if (order.insurance === "yes") ${cancel}`, "if_insurance"],
  [`${read} if (!order.paid) ${cancel}`, "unless_paid"],
  [`${read} if (order.total < 100) ${cancel}`, "by_total"],
  [`${read} if (order.owner === "jinsoo") ${cancel}`, "by_owner"],
  [`const order = await mcp.shop.find_order({ email: args.email }); ${cancel}`, "by_email"],
])("%s is told apart by %s", (code, qualifier) => {
  const { name, qualifiers } = proposeName(nameable("stop it for Jinsoo", code));
  expect(name).toBe("api:cancel_order");
  expect(qualifiers[0]).toBe(qualifier);
});

test.each([
  ["for (const id of args.ids) await mcp.shop.cancel_order({ order_id: id });", "api:cancel_orders"],
  [
    "const { events } = await mcp.cal.list_events({}); await mcp.fs.write_file({ path: args.path, content: events });",
    "api:export_events",
  ],
  [
    "const { orders } = await mcp.shop.list_orders({}); return orders.reduce((sum, each) => sum + each.total, 0);",
    "api:sum_orders",
  ],
  ["const { orders } = await mcp.shop.list_orders({}); return orders.length;", "api:count_orders"],
  [
    "const user = await mcp.shop.find_user({ email: args.email }); return await mcp.shop.get_user_details({ id: user.id });",
    "api:get_user_details",
  ],
  ["await mcp.shop.ship_order({ id: args.id }); await mcp.mail.send_message({ to: args.to });", "api:ship_order"],
  [
    "await mcp.shop.think({ thought: 'Jinsoo' }); await mcp.shop.exchange_items({ id: args.id });",
    "api:exchange_items",
  ],
])("%s is %s", (code, name) => {
  expect(proposeName(nameable("do what Jinsoo said in O-17", code)).name).toBe(name);
});

test.each(["Jinsoo scours the mails", "scour jinsoo", "tell Ana about #W2378156", "Mei: 'swap the lamp'"])(
  "no word of %s becomes part of a name",
  (intent) => {
    const code = `return await mcp.filesystem.read_text_file({ path: "/home/jinsoo/lamp-scour.txt" });`;
    const { name, qualifiers } = proposeName(nameable(intent, code));
    expect([name, ...qualifiers].join(" ")).not.toMatch(/jinsoo|scour|ana|mei|lamp|swap|\d/);
  },
);

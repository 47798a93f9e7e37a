import { expect, test } from "vitest";
import { analyseProgram } from "../analyse-program.ts";

const catalogue = { findTool: () => undefined };

function keyOf(program: string): string | undefined {
  const outcome = analyseProgram(program, catalogue);
  return outcome.kind === "program" ? outcome.program.behaviour?.key : undefined;
}

/** Programs of a group do the same, in other words and with other values. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "one call": [
    `return await mcp.shop.get_order({ order_id: "#W1" });`,
    `const order = await mcp.shop.get_order({ order_id: '#W2' }); return order;`,
    `const id = "#W3";\nconst { status } = await mcp.shop.get_order({ "order_id": id });\nreturn status;`,
    `const { shop } = mcp; const r = await shop["get_order"]({ order_id: args.id }); console.log(r); return { id: r.id, ok: true };`,
    `const params = { order_id: \`#W4\` }; let result; result = await mcp.shop.get_order(params); return JSON.stringify(result);`,
    `return mcp.shop.get_order({ order_id: orderId }).then((order) => order.items[0]);`,
    `async function load(id: string) { return await mcp.shop.get_order({ order_id: id }); }\nreturn await load("#W5");`,
  ],
  "the same call for some items": [
    `await mcp.shop.cancel({ id: "a", why: "x y" }); await mcp.shop.cancel({ why: "z", id: "b" });`,
    `for (const id of ["a", "b", "c"]) await mcp.shop.cancel({ id, why: "no longer" });`,
    `await Promise.all(["a", "b"].map(async (id) => mcp.shop.cancel({ id, why: args.why })));`,
    `const out = []; for (const id of args.ids) { out.push(await mcp.shop.cancel({ id, why: "w" })); } return out;`,
    `const [x, y] = await Promise.all([mcp.shop.cancel({ id: "a", why: "q" }), mcp.shop.cancel({ id: "b", why: "q" })]); return { x, y };`,
    `await mcp.shop.cancel({ id: "only", why: "once" }); return "done";`,
  ],
  "a value out of a result": [
    `const user = await mcp.shop.find_user({ email: "a@b.c" }); const o = await mcp.shop.get_order({ id: user.orders[0] }); return o.status;`,
    `const { orders: [first] } = await mcp.shop.find_user({ email: "d@e.f" });\nreturn (await mcp.shop.get_order({ id: first }));`,
    `const u = await mcp.shop.find_user({ email: args.email });\nconst list = u["orders"];\nreturn mcp.shop.get_order({ id: list[0] });`,
  ],
  "a condition": [
    `const o = await mcp.shop.get_order({ id: "1" }); if (o.status === "pending") { await mcp.shop.cancel({ id: "1" }); }`,
    `const { status } = await mcp.shop.get_order({ id: "22" }); if (status === "pending") await mcp.shop.cancel({ id: "22" }); return "ok";`,
  ],
  "a guard": [
    `const o = await mcp.s.get({ id: "1" }); if (o.status === "pending") { await mcp.s.cancel({ id: "1" }); } return o.id;`,
    `const o = await mcp.s.get({ id: "2" }); if (o.status !== "pending") return { skipped: true }; await mcp.s.cancel({ id: "2" }); return o.id;`,
    `const o = await mcp.s.get({ id: "3" }); if (!(o.status === "pending")) { return null; } else { await mcp.s.cancel({ id: "3" }); } return o;`,
  ],
  "a guard in a loop": [
    `const { items } = await mcp.s.list({}); for (const i of items) { if (i.open) await mcp.s.close({ id: i.id }); }`,
    `const { items } = await mcp.s.list({}); for (const i of items) { if (!i.open) continue; await mcp.s.close({ id: i.id }); }`,
  ],
  "a loop over a result": [
    `const l = await mcp.shop.list({}); for (const o of l.items) await mcp.shop.touch({ id: o.id });`,
    `const { items } = await mcp.shop.list({}); await Promise.all(items.map(async ({ id }) => { await mcp.shop.touch({ id }); }));`,
    `const l = await mcp.shop.list({}); const done = []; for (const { id } of l.items) { const t = await mcp.shop.touch({ id }); done.push(t); } return done;`,
  ],
  "a text around a value": [
    `const id = "17"; return mcp.fs.read({ path: \`/orders/\${id}.json\` });`,
    `const order = "4711"; return mcp.fs.read({ path: "/orders/" + order + ".json" });`,
    `return mcp.fs.read({ path: \`/orders/\${args.order}.json\` });`,
  ],
  "a sum that is returned": [
    `const l = await mcp.shop.list({ day: "mon" }); let sum = 0; for (const x of l.items) sum += x.price; return sum;`,
    `const { items } = await mcp.shop.list({ day: "tue" }); let total = 0; for (const item of items) { total += item.price; } return { total };`,
  ],
  "a helper with an early return": [
    `const load = async (id) => { const o = await mcp.shop.get_order({ id }); if (!o.open) return null; return mcp.shop.touch({ id: o.id }); }; return load("a");`,
    `const fetchIt = async (key) => { const found = await mcp.shop.get_order({ id: key }); if (!found.open) { return null; } else { return await mcp.shop.touch({ id: found.id }); } }; return await fetchIt("bb");`,
  ],
};

test.each(Object.entries(GROUPS))("%s: all spellings have one key", (_, programs) => {
  const keys = programs.map(keyOf);
  expect(keys).toEqual(programs.map(() => keys[0]));
  expect(keys[0]).toBeTypeOf("string");
});

test("different behaviours have different keys", () => {
  const keys = Object.values(GROUPS).map(([first = ""]) => keyOf(first));
  expect(new Set(keys).size).toBe(keys.length);
});

/** Pairs that look alike and do something else. */
const PAIRS: readonly (readonly [string, string, string])[] = [
  [
    "a negated condition",
    `const o = await mcp.s.get({ id: "1" }); if (o.open) await mcp.s.close({ id: "1" });`,
    `const o = await mcp.s.get({ id: "1" }); if (!o.open) await mcp.s.close({ id: "1" });`,
  ],
  [
    "another comparison",
    `const o = await mcp.s.get({}); if (o.n > 5) await mcp.s.close({});`,
    `const o = await mcp.s.get({}); if (o.n >= 5) await mcp.s.close({});`,
  ],
  [
    "another constant in a condition",
    `const o = await mcp.s.get({}); if (o.state === "open") await mcp.s.close({});`,
    `const o = await mcp.s.get({}); if (o.state === "lost") await mcp.s.close({});`,
  ],
  [
    "another order",
    `await mcp.s.a({ x: "1" }); await mcp.s.b({ x: "1" });`,
    `await mcp.s.b({ x: "1" }); await mcp.s.a({ x: "1" });`,
  ],
  ["a missing call", `await mcp.s.a({ x: "1" }); await mcp.s.b({ x: "1" });`, `await mcp.s.a({ x: "1" });`],
  ["another argument name", `await mcp.s.a({ x: "1" });`, `await mcp.s.a({ y: "1" });`],
  [
    "another accumulator",
    `const l = await mcp.s.list({}); let n = 0; for (const x of l) n += x.a; return n;`,
    `const l = await mcp.s.list({}); let n = 1; for (const x of l) n *= x.a; return n;`,
  ],
  [
    "another field in a computation",
    `const l = await mcp.s.list({}); return l.reduce((s, x) => s + x.a, 0);`,
    `const l = await mcp.s.list({}); return l.reduce((s, x) => s + x.b, 0);`,
  ],
  [
    "another field passed on",
    `const o = await mcp.s.get({}); await mcp.s.put({ id: o.id });`,
    `const o = await mcp.s.get({}); await mcp.s.put({ id: o.key });`,
  ],
  [
    "another filter",
    `const l = await mcp.s.list({}); for (const x of l.filter((e) => e.open)) await mcp.s.put({ id: x.id });`,
    `const l = await mcp.s.list({}); for (const x of l.filter((e) => e.late)) await mcp.s.put({ id: x.id });`,
  ],
  [
    "stopping at the first",
    `const l = await mcp.s.list({}); for (const x of l) { await mcp.s.put({ id: x.id }); }`,
    `const l = await mcp.s.list({}); for (const x of l) { await mcp.s.put({ id: x.id }); break; }`,
  ],
  [
    "the first instead of all",
    `const l = await mcp.s.list({}); await mcp.s.put({ id: l[0].id });`,
    `const l = await mcp.s.list({}); for (const x of l) await mcp.s.put({ id: x.id });`,
  ],
  ["a caught failure", `await mcp.s.a({ x: "1" });`, `try { await mcp.s.a({ x: "1" }); } catch { await mcp.s.b({}); }`],
  [
    "the other of two results",
    `const a = await mcp.s.get({ k: "1" }); const b = await mcp.t.get({ k: "2" }); await mcp.s.put({ id: a.id });`,
    `const a = await mcp.s.get({ k: "1" }); const b = await mcp.t.get({ k: "2" }); await mcp.s.put({ id: b.id });`,
  ],
  [
    "a value from a result instead of a literal",
    `const a = await mcp.s.get({ k: "1" }); await mcp.s.put({ id: a.id });`,
    `const a = await mcp.s.get({ k: "1" }); await mcp.s.put({ id: "x17" });`,
  ],
  [
    "a fallback",
    `const a = await mcp.s.get({ k: "1" }); await mcp.s.put({ id: a.id ?? a.key });`,
    `const a = await mcp.s.get({ k: "1" }); await mcp.s.put({ id: a.id });`,
  ],
  [
    "the lowest instead of the highest",
    `const l = await mcp.s.list({}); const x = l.toSorted((a, b) => a.p - b.p)[0]; await mcp.s.put({ id: x.id });`,
    `const l = await mcp.s.list({}); const x = l.toSorted((a, b) => b.p - a.p)[0]; await mcp.s.put({ id: x.id });`,
  ],
  [
    "a text that differs",
    `await mcp.s.put({ path: \`/a/\${args.id}\` });`,
    `await mcp.s.put({ path: \`/b/\${args.id}\` });`,
  ],
  [
    "a call before the test",
    `const o = await mcp.s.get({}); if (o.a) { await mcp.s.x({}); }`,
    `const o = await mcp.s.get({}); await mcp.s.x({}); if (o.a) { }`,
  ],
  [
    "or instead of and",
    `const o = await mcp.s.get({}); if (o.a && o.b) await mcp.s.x({});`,
    `const o = await mcp.s.get({}); if (o.a || o.b) await mcp.s.x({});`,
  ],
];

test.each(PAIRS)("%s is another behaviour", (_, one, other) => {
  expect(keyOf(one)).toBeTypeOf("string");
  expect(keyOf(one)).not.toBe(keyOf(other));
});

test.each([
  ["no call", "return 1 + 1;"],
  ["a computed tool", "return mcp.s[args.tool]({});"],
  ["a class", "class A {} return mcp.s.a({});"],
  ["a syntax error", "return ("],
  ["a generator", "function* g() { yield 1; } for (const x of g()) await mcp.s.a({ x });"],
])("%s has no behaviour key", (_, program) => {
  expect(keyOf(program)).toBeUndefined();
});

test("a program that doubles its values with each line ends at the budget", () => {
  const lines = Array.from({ length: 60 }, (_, index) => `const v${index + 1} = v${index} + v${index};`);
  expect(keyOf(`const v0 = await mcp.s.a({}); ${lines.join("\n")} await mcp.s.b({ x: v60 });`)).toBeUndefined();
});

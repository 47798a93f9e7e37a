import type { Random } from "./random.ts";

/** Ways to spell the name of a tool without having it in the text. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => JSON.stringify(name),
  (name) => `${JSON.stringify(name.slice(0, 1))} + ${JSON.stringify(name.slice(1))}`,
  (name) => `[${[...name].map((letter) => JSON.stringify(letter)).join(", ")}].join("")`,
  (name) => `String.fromCharCode(${[...name].map((letter) => letter.charCodeAt(0)).join(", ")})`,
  (name) => `${JSON.stringify([...name].toReversed().join(""))}.split("").reverse().join("")`,
  (name) => `args.name ?? ${JSON.stringify(name)}`,
  (name) => `Object.keys({ ${name}: 1 })[0]`,
  (name) => `\`\${${JSON.stringify(name)}}\``,
  (name) => `({ toString: () => ${JSON.stringify(name)} })`,
  (name) => `((n) => ({ toString() { n += 1; return n > 1 ? ${JSON.stringify(name)} : "read"; } }))(0)`,
];

/** Ways to obtain the tool of that name. `N` is an expression for the name, `T` the name itself. */
const ROUTES: readonly string[] = [
  "const f = mcp.counting.T;",
  "const f = mcp.counting[N];",
  `const f = mcp["count" + "ing"][N];`,
  "const { [N]: f } = mcp.counting;",
  "const { counting: { T: f } } = mcp;",
  "const { counting: { ...rest } } = mcp; const f = rest[N] ?? mcp.counting[N];",
  "const m = mcp; const c = m.counting; const f = c[N];",
  "const f = Reflect.get(mcp.counting, String(N));",
  "const f = Object.create(mcp.counting)[N];",
  "const f = Object.setPrototypeOf({}, mcp.counting)[N];",
  "const f = new Proxy(mcp.counting, {})[N];",
  "const f = new Proxy(mcp, { get: (t, k) => t.counting })[0][N];",
  "class Holder { static c = mcp.counting; get it() { return Holder.c[N]; } } const f = new Holder().it;",
  "const f = [mcp].map(({ counting }) => counting)[0][N];",
  "const f = JSON.parse('{\"a\":0}', () => mcp.counting)[N];",
  "const f = ((...all) => all[0].counting[N])(mcp, 1);",
  "let f = mcp.counting.read; f = mcp.counting[N];",
  "const box = { f: mcp.counting.read }; box.f = mcp.counting[N]; const { f } = box;",
  "const f = function () { return mcp.counting[N](...arguments); }.bind(null);",
  "const f = (a) => Function.prototype.call.call(mcp.counting[N], null, a);",
  "const f = (a) => Reflect.apply(mcp.counting[N], undefined, [a]);",
  "try { mcp.counting.read = mcp.counting[N]; } catch {} const f = mcp.counting.read;",
  "try { Object.defineProperty(mcp.counting, 'read', { get: () => mcp.counting[N] }); } catch {} const f = mcp.counting.read;",
  "try { Object.defineProperty(Object.prototype, 'tool', { get: () => String(N), set() {}, configurable: true }); } catch {} const f = mcp.counting.read;",
  "try { Object.prototype.toJSON = function () { return { ...this, tool: String(N) }; }; } catch {} const f = mcp.counting.read;",
  "try { JSON.stringify = ((old) => (v) => old(v).replaceAll('read', String(N)))(JSON.stringify); } catch {} const f = mcp.counting.read;",
  "try { Array.prototype.join = () => 'counting:' + N; String.prototype.toString = () => String(N); } catch {} const f = mcp.counting.read;",
  "try { Promise.prototype.then = ((old) => function (a, b) { return old.call(this, a, b); })(Promise.prototype.then); } catch {} const f = mcp.counting[N];",
  `const f = mcp["counting:" + N] ?? mcp.counting[N];`,
  `const f = mcp[""]?.["counting:" + N] ?? mcp.counting[N];`,
  `const f = mcp.counting["../counting:" + N] ?? mcp.counting[N];`,
  "const f = new Function('m', 'n', 'return m.counting[n]')(mcp, String(N));",
  "const f = (0, eval)('(m, n) => m.counting[n]')(mcp, String(N));",
  "const f = (async () => {}).constructor('m', 'n', 'a', 'return m.counting[n](a)').bind(null, mcp, String(N));",
  `const f = globalThis["m" + "cp"].counting[N];`,
  `const f = globalThis["__p" + "ml"]?.call?.("n1", "", mcp.counting[N]) ?? mcp.counting[N];`,
  "const f = (a) => capabilities.util.sneak_T(a);",
  `const f = (a) => capabilities["ut" + "il"]["sneak_" + N](a);`,
  "const f = (a) => capabilities.util.reads({ ...a, tool: String(N), name: String(N) });",
];

/** Ways to make the call. */
const CALLS: readonly string[] = [
  "return await f({ key });",
  "return await (async () => f?.({ key }))();",
  "return await Promise.all([1, 2].map(() => f({ key })));",
  "const out = []; for (const each of [1, 2]) out.push(await f({ key: key + each })); return out;",
  "try { return await f({ key }); } catch { return await f({ key: key + 'again' }); }",
  "return await new Promise((done, fail) => setTimeout(() => f({ key }).then(done, fail), 1));",
  "const thenable = { then(done, fail) { f({ key }).then(done, fail); } }; return await thenable;",
  "return await [f].map((g) => g({ key }))[0];",
  "if (args.never !== 1) { await mcp.counting.list({ length: 1 }); return await f({ key }); } return 0;",
  "return await f({ key, toJSON: undefined, tool: 'drop', server: 'counting' });",
];

/** Generates a program that calls a tool of the counting server in one of many obfuscated ways. */
export function writeSneakyProgram(random: Random, name: string): string {
  const spelled = `(${random.pick(NAMES)(name)})`;
  const route = random.pick(ROUTES).replaceAll("sneak_T", `sneak_${name}`);
  const holder = route.replace(/\bT\b/g, name).replace(/\bN\b/g, spelled);
  return `const key = "sneaky";\n${holder}\n${random.pick(CALLS)}`;
}

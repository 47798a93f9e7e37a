// @ts-check
import { NOWHERE } from "./channel.mjs";
import { apply, defineGlobal, mapGet, mapSet, stringify, weakGet, weakSet } from "./intrinsics.mjs";

/** @typedef {import("./channel.mjs").Site} Site */
/** @typedef {(site: Site, args: unknown[]) => unknown} Located a call that knows its node in the structure */

/**
 * Defines the globals of tools: `mcp.<server>.<tool>`, `capabilities.<namespace>.<action>`, `capabilities.<action>`.
 * @param {import("./channel.mjs").Channel} channel
 */
export function createToolGlobals(channel) {
  /** @type {WeakMap<object, Located>} */
  const locatedCalls = new WeakMap();
  /** @param {Located} located */
  const callable = (located) => {
    /** @param {unknown[]} args */
    const plain = (...args) => located(NOWHERE, args);
    apply(weakSet, locatedCalls, [plain, located]);
    return plain;
  };
  /** @param {string} kind @param {string | null} group @param {string} name @returns {Located} */
  const createCall = (kind, group, name) => {
    const shown = group === null ? name : `${group}:${name}`;
    const words = `${stringify(group)},${stringify(name)}`;
    /** @type {Located} */
    const located = (site, args) => {
      try {
        return channel.call(kind, site, `${words},${channel.argumentsOf(shown, args[0])}`, located);
      } catch (error) {
        return Promise.reject(error);
      }
    };
    return located;
  };
  defineGlobal(
    "mcp",
    createNames((server) => createNames((tool) => callable(createCall("tool", server, tool)))),
  );
  defineGlobal(
    "capabilities",
    createNames((first) => {
      const located = createCall("capability", null, first);
      const inner = createNames((action) => callable(createCall("capability", first, action)), callable(located));
      apply(weakSet, locatedCalls, [inner, located]);
      return inner;
    }),
  );
  return {
    callable,
    /** @param {unknown} callee @returns {Located | undefined} */
    findLocated: (callee) =>
      typeof callee === "function" ? apply(weakGet, locatedCalls, [/** @type {object} */ (callee)]) : undefined,
  };
}

/** @typedef {ReturnType<typeof createToolGlobals>} ToolGlobals */

const MAX_NAME = 500;

const refuse = () => false;

/**
 * Creates an object that has every property. `then` and `toJSON` are missing, so that it can be awaited and printed.
 * @param {(name: string) => unknown} create @param {(...args: unknown[]) => unknown} [target] makes it callable
 */
function createNames(create, target) {
  /** @type {Map<string, unknown>} */
  const made = new Map();
  return new Proxy(target ?? Object.create(null), {
    get(_target, name) {
      if (typeof name !== "string" || name === "then" || name === "toJSON") return undefined;
      const known = apply(mapGet, made, [name]);
      if (known !== undefined) return known;
      if (name.length > MAX_NAME) throw new RangeError(`a name of ${name.length} characters is too long`);
      const value = create(name);
      apply(mapSet, made, [name, value]);
      return value;
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    getPrototypeOf: () => null,
  });
}

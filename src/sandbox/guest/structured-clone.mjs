// @ts-check
/** @typedef {Map<object, unknown>} Seen copies of visited objects, so that cycles stay cycles */

const ERRORS = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

/** @template T @param {T} value @returns {T} */
export function structuredClone(value) {
  return /** @type {T} */ (clone(value, new Map()));
}

/** @param {unknown} value @param {Seen} seen @returns {unknown} */
function clone(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") throw notCloneable(value);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const copy = cloneLeaf(value);
  if (copy !== undefined) {
    seen.set(value, copy);
    return copy;
  }
  return cloneHolder(value, seen);
}

/** Clones objects that hold others. @param {object} value @param {Seen} seen */
function cloneHolder(value, seen) {
  if (value instanceof Map || value instanceof Set) return cloneCollection(value, seen);
  if (value instanceof WeakMap || value instanceof WeakSet || value instanceof Promise) throw notCloneable(value);
  if (value instanceof Error) return cloneError(value, seen);
  return cloneProperties(value, Array.isArray(value) ? sparseArray(value.length) : {}, seen);
}

/** @param {number} length @returns {unknown[]} */
function sparseArray(length) {
  /** @type {unknown[]} */
  const array = [];
  array.length = length;
  return array;
}

/** Clones objects that hold no others. @param {object} value @returns {object | undefined} */
function cloneLeaf(value) {
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof Boolean || value instanceof Number || value instanceof String) return Object(value.valueOf());
  if (value instanceof DataView) return new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength);
  return ArrayBuffer.isView(value) ? /** @type {Uint8Array} */ (value).slice() : undefined;
}

/** @param {Map<unknown, unknown> | Set<unknown>} value @param {Seen} seen */
function cloneCollection(value, seen) {
  if (value instanceof Map) {
    const copy = new Map();
    seen.set(value, copy);
    for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
    return copy;
  }
  const copy = new Set();
  seen.set(value, copy);
  for (const item of value) copy.add(clone(item, seen));
  return copy;
}

/** @param {Error} value @param {Seen} seen */
function cloneError(value, seen) {
  const Kind = ERRORS.find(({ name }) => name === value.name) ?? Error;
  const copy = new Kind(value.message);
  seen.set(value, copy);
  if (value.stack !== undefined) copy.stack = value.stack;
  if ("cause" in value) copy.cause = clone(value.cause, seen);
  return copy;
}

/** @param {object} value @param {object} copy @param {Seen} seen */
function cloneProperties(value, copy, seen) {
  seen.set(value, copy);
  for (const key of Object.keys(value)) {
    const item = clone(/** @type {Record<string, unknown>} */ (value)[key], seen);
    Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

/** @param {unknown} value */
function notCloneable(value) {
  const error = new Error(`${typeof value === "object" ? "this object" : `a ${typeof value}`} could not be cloned`);
  error.name = "DataCloneError";
  return error;
}

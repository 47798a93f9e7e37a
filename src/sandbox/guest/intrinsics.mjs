// @ts-check
/**
 * References to built-ins, taken before a program runs. A program that replaces built-ins only fools itself, but the
 * runtime must survive honest polyfills.
 */
export const { apply, construct, defineProperty, deleteProperty } = Reflect;
export const { parse, stringify } = JSON;
export const { freeze, getOwnPropertyDescriptor } = Object;
const { create: createObject } = Object;
export const { then: promiseThen } = Promise.prototype;
export const { get: mapGet, set: mapSet, delete: mapDelete } = Map.prototype;
export const { get: weakGet, set: weakSet } = WeakMap.prototype;
const { slice: stringSlice, charCodeAt } = String.prototype;
export const { slice: arraySlice } = Array.prototype;
export const { floor, imul } = Math;
/** The program may replace the global of the same name. */
export const { Error: BaseError, Promise: BasePromise } = globalThis;

/**
 * Defines a property without setters of prototypes. The descriptor has no prototype: a program may have given all objects
 * a `get`. @param {object} target @param {string} key @param {unknown} value @param {boolean} enumerable
 */
export const defineValue = (target, key, value, enumerable) => {
  const descriptor = /** @type {PropertyDescriptor} */ (createObject(null));
  descriptor.value = value;
  descriptor.writable = true;
  descriptor.configurable = true;
  descriptor.enumerable = enumerable;
  return defineProperty(target, key, descriptor);
};

/**
 * Makes `then` of a promise independent of `constructor` and `Symbol.species`, which a program can replace.
 * @template T @param {Promise<T>} promise
 */
export const withoutSpecies = (promise) => {
  defineValue(promise, "constructor", undefined, false);
  return promise;
};
export const settled = withoutSpecies(BasePromise.resolve());

/** Removes the first line unless it begins with a space. @param {string} text */
export const withoutFirstLine = (text) => {
  if (text === "" || text[0] === " " || text[0] === "\t") return text;
  let end = 0;
  while (end < text.length && text[end] !== "\n") end += 1;
  return end < text.length ? apply(stringSlice, text, [end + 1]) : text;
};

/** @param {string} text @param {number} length */
export const cut = (text, length) => (text.length > length ? `${apply(stringSlice, text, [0, length])}…` : text);

/**
 * Returns the length in UTF-8, counted only where the number of characters does not decide it. @param {string} text
 * @param {number} limit
 */
export const bytesAbove = (text, limit) => {
  if (text.length * 3 <= limit || text.length > limit) return text.length;
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = apply(charCodeAt, text, [at]);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
};

/** @param {string} name @param {unknown} value */
export const defineGlobal = (name, value) =>
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

/**
 * Defines a global that is created on first use: most programs need none of them.
 * @param {string} name @param {() => unknown} create
 */
export const defineLazyGlobal = (name, create) =>
  defineProperty(globalThis, name, {
    configurable: true,
    enumerable: false,
    get() {
      const value = create();
      defineGlobal(name, value);
      return value;
    },
    set: (value) => void defineGlobal(name, value),
  });

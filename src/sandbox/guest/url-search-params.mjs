// @ts-check
import { decodeUtf8, encodeUtf8 } from "./encoding.mjs";

/** @typedef {[name: string, value: string]} Pair */

export class URLSearchParams {
  /** @type {Pair[]} */
  #pairs;
  /** Updates the URL that owns the parameters. @type {((text: string) => void) | undefined} */
  #changed;

  /** @param {unknown} [init] @param {(text: string) => void} [changed] */
  constructor(init = "", changed) {
    this.#pairs = readPairs(init);
    this.#changed = changed;
  }

  get size() {
    return this.#pairs.length;
  }

  /** @param {unknown} name @param {unknown} value */
  append(name, value) {
    this.#replace([...this.#pairs, [String(name), String(value)]]);
  }

  /** @param {unknown} name @param {unknown} [value] */
  delete(name, value) {
    const goes = (/** @type {Pair} */ pair) =>
      pair[0] === String(name) && (value === undefined || pair[1] === String(value));
    this.#replace(this.#pairs.filter((pair) => !goes(pair)));
  }

  /** @param {unknown} name @returns {string | null} */
  get(name) {
    return this.#pairs.find(([each]) => each === String(name))?.[1] ?? null;
  }

  /** @param {unknown} name */
  getAll(name) {
    return this.#pairs.filter(([each]) => each === String(name)).map(([, value]) => value);
  }

  /** @param {unknown} name @param {unknown} [value] */
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }

  /** @param {unknown} name @param {unknown} value */
  set(name, value) {
    const first = this.#pairs.findIndex(([each]) => each === String(name));
    if (first === -1) return this.append(name, value);
    const kept = this.#pairs.filter(([each], at) => each !== String(name) || at === first);
    return this.#replace(kept.map((pair) => (pair[0] === String(name) ? [pair[0], String(value)] : pair)));
  }

  sort() {
    this.#replace(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** @param {(value: string, name: string, params: URLSearchParams) => void} visit */
  forEach(visit) {
    for (const [name, value] of this.#pairs) visit(value, name, this);
  }

  keys() {
    return this.#pairs.map(([name]) => name)[Symbol.iterator]();
  }

  values() {
    return this.#pairs.map(([, value]) => value)[Symbol.iterator]();
  }

  entries() {
    return this.#pairs.map((pair) => /** @type {Pair} */ ([...pair]))[Symbol.iterator]();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.#pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join("&");
  }

  /** @param {Pair[]} pairs */
  #replace(pairs) {
    this.#pairs = pairs;
    this.#changed?.(this.toString());
  }
}

/** @param {unknown} init @returns {Pair[]} */
function readPairs(init) {
  if (typeof init !== "object" || init === null) return parseForm(String(init).replace(/^\?/, ""));
  if (Symbol.iterator in init) {
    return [.../** @type {Iterable<Iterable<unknown>>} */ (init)].map((item) => {
      const pair = [...item].map(String);
      if (pair.length !== 2) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
      return /** @type {Pair} */ (pair);
    });
  }
  return Object.entries(init).map(([name, value]) => [name, String(value)]);
}

/** @param {string} text @returns {Pair[]} */
function parseForm(text) {
  const parts = text.split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const equals = part.indexOf("=");
    const name = equals === -1 ? part : part.slice(0, equals);
    return [decodeForm(name), equals === -1 ? "" : decodeForm(part.slice(equals + 1))];
  });
}

/** @param {string} text */
function decodeForm(text) {
  const spaced = text.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  const bytes = encodeUtf8(spaced);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const digits = String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
    const isEscape = bytes[at] === 0x25 && /^[0-9a-f]{2}$/i.test(digits);
    bytes[length] = isEscape ? Number.parseInt(digits, 16) : (bytes[at] ?? 0);
    length += 1;
    if (isEscape) at += 2;
  }
  return decodeUtf8(bytes.subarray(0, length), false);
}

/** @param {string} text */
function encodeForm(text) {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

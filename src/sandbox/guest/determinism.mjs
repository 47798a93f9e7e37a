// @ts-check
import {
  construct,
  defineGlobal,
  defineLazyGlobal,
  defineProperty,
  deleteProperty,
  floor,
  getOwnPropertyDescriptor,
  imul,
  apply,
} from "./intrinsics.mjs";

/** Globals that differ between two runs, or evade the isolate's limits. */
const REMOVED = ["WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry", "Temporal"];

/** Makes runs reproducible: the clock advances with the answers, random numbers come from the run's seed. */
export function createDeterminism() {
  let clock = 0;
  let startedAt = 0;
  let state = 0;
  const now = () => clock;
  /** @returns {number} 32 random bits */
  const nextBits = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  for (const name of REMOVED) deleteProperty(globalThis, name);
  hideFunctionsOnStack();
  replaceDate(now);
  if (typeof Intl !== "undefined") {
    const real = Intl; // QuickJS has none
    defineLazyGlobal("Intl", () => replaceIntlClock(real, now));
  }
  defineGlobal("performance", { now: () => clock - startedAt, timeOrigin: 0 });
  Math.random = () => (nextBits() >>> 5) * 2 ** -27 + (nextBits() >>> 6) * 2 ** -53;
  defineLazyGlobal("crypto", () => createCrypto(nextBits));
  return {
    /** @param {number} seed @param {number} at */
    begin(seed, at) {
      // Mixes in the bits of the seed above 32.
      state = (seed ^ imul(floor(seed / 2 ** 32), 0x85ebca6b)) >>> 0;
      startedAt = at;
      clock = at;
    },
    /** @param {number} at */
    advance: (at) => void (clock = at),
  };
}

/** QuickJS would hand the runtime's own functions to `Error.prepareStackTrace`; V8 does so for sloppy code only. */
function hideFunctionsOnStack() {
  if (getOwnPropertyDescriptor(Error, "prepareStackTrace") === undefined) return;
  defineProperty(Error, "prepareStackTrace", { get: () => undefined, set: () => undefined, configurable: false });
}

/** @param {unknown} value */
const hidden = (value) => ({ value, writable: true, configurable: true, enumerable: false });

/** @param {() => number} now */
function replaceDate(now) {
  const Real = Date;
  /** @this {unknown} @param {unknown[]} args */
  function GuestDate(...args) {
    if (new.target === undefined) return new Real(now()).toString();
    return construct(Real, args.length === 0 ? [now()] : args, new.target);
  }
  defineProperty(GuestDate, "name", { value: "Date", configurable: true });
  defineProperty(GuestDate, "length", { value: 7, configurable: true });
  defineProperty(GuestDate, "now", hidden(now));
  defineProperty(GuestDate, "parse", hidden(Real.parse));
  defineProperty(GuestDate, "UTC", hidden(Real.UTC));
  // Shares the prototype: otherwise a program could reach the real constructor, and the real clock, through it.
  defineProperty(GuestDate, "prototype", { value: Real.prototype, writable: false });
  defineProperty(Real.prototype, "constructor", hidden(GuestDate));
  defineGlobal("Date", GuestDate);
}

/**
 * Replaces the current time that `Intl` uses where no date is given. @param {typeof Intl} real @param {() => number}
 * now
 */
function replaceIntlClock(real, now) {
  const { prototype } = real.DateTimeFormat;
  const formatOf = getOwnPropertyDescriptor(prototype, "format")?.get;
  const { formatToParts } = prototype;
  if (formatOf === undefined) return real;
  /** @param {unknown} date */
  const orNow = (date) => (date === undefined ? now() : date);
  defineProperty(prototype, "format", {
    configurable: true,
    get() {
      const format = apply(formatOf, this, []);
      return (/** @type {unknown} */ date) => format(orNow(date));
    },
  });
  defineProperty(prototype, "formatToParts", {
    configurable: true,
    writable: true,
    /** @this {Intl.DateTimeFormat} @param {unknown} date */
    value(date) {
      return apply(formatToParts, this, [orNow(date)]);
    },
  });
  return real;
}

/** @param {() => number} nextBits */
function createCrypto(nextBits) {
  /** @template {ArrayBufferView} T @param {T} view */
  const getRandomValues = (view) => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = nextBits();
    return view;
  };
  const randomUUID = () => {
    const bytes = getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    let text = "";
    for (let at = 0; at < bytes.length; at += 1) {
      if (at === 4 || at === 6 || at === 8 || at === 10) text += "-";
      text += ((bytes[at] ?? 0) + 0x100).toString(16).slice(1);
    }
    return text;
  };
  return { getRandomValues, randomUUID };
}

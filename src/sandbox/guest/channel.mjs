// @ts-check
import {
  apply,
  BaseError,
  bytesAbove,
  defineValue,
  getOwnPropertyDescriptor,
  mapDelete,
  mapGet,
  mapSet,
  promiseThen,
  settled,
  stringify,
  withoutFirstLine,
} from "./intrinsics.mjs";

/** @typedef {import("./protocol.ts").InnerLimits} InnerLimits */
/** @typedef {import("./protocol.ts").AnswerError} AnswerError */
/** @typedef {{ node: string | null, loop: string }} Site */
/** @typedef {{ resolve: (value: unknown) => void, reject: (error: unknown) => void, place: { stack?: string } }} Pending */

/** @type {Site} */
export const NOWHERE = { node: null, loop: "" };

/** Flushes longer batches at once, so that a program that never awaits cannot fill the memory with messages. */
const MAX_BATCH = 64 * 1024;

/** Sends the guest's messages to the gateway, batched per turn of the program and in order. */
export class Channel {
  /** @type {InnerLimits} */
  limits;
  /** @type {(type: string, text: string) => void} */
  #send;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #batch = "";
  #calls = 0;
  #decisions = 0;

  /** @param {(type: string, text: string) => void} send @param {InnerLimits} limits until the program's own are known */
  constructor(send, limits) {
    this.#send = send;
    this.limits = limits;
  }

  flush() {
    const text = this.#batch;
    this.#batch = "";
    if (text !== "") this.#send("M", text);
  }

  /** @param {string} line */
  queueMessage(line) {
    if (this.#batch === "") void apply(promiseThen, settled, [() => this.flush()]);
    this.#batch += `${line}\n`;
    if (this.#batch.length > MAX_BATCH) this.flush();
  }

  /** @param {keyof InnerLimits} limit @param {number} [found] @returns {never} */
  exceed(limit, found) {
    this.flush();
    this.#send("F", found === undefined ? `["${limit}"]` : `["${limit}",${found}]`);
    throw new RangeError(`sandbox.${limit} was reached`);
  }

  /**
   * @param {string} kind @param {Site} site @param {string} words the names of its target, as JSON
   * @param {object} caller the function that the program called: the stack of an error begins above it
   * @returns {Promise<unknown>}
   */
  call(kind, { node, loop }, words, caller) {
    return new Promise((resolve, reject) => {
      this.#calls += 1;
      if (this.#calls > this.limits.maxCalls) this.exceed("maxCalls");
      /** @type {{ stack?: string }} */
      const place = {};
      captureStack(place, caller);
      apply(mapSet, this.#pending, [this.#calls, { resolve, reject, place }]);
      this.queueMessage(`["${kind}",${this.#calls},${stringify(node)},${stringify(loop)},${words}]`);
    });
  }

  /** @param {Site} site @param {string} outcome */
  decided({ node, loop }, outcome) {
    this.#decisions += 1;
    if (this.#decisions > this.limits.maxDecisions) this.exceed("maxDecisions");
    this.queueMessage(`["decided",${stringify(node)},${stringify(loop)},${stringify(outcome)}]`);
  }

  /** @param {number} id @param {boolean} ok @param {unknown} value */
  settle(id, ok, value) {
    /** @type {Pending | undefined} */
    const waiting = apply(mapGet, this.#pending, [id]);
    if (waiting === undefined) return;
    apply(mapDelete, this.#pending, [id]);
    if (ok) waiting.resolve(value);
    else waiting.reject(toolError(/** @type {AnswerError} */ (value), waiting.place));
  }

  /**
   * Serialises arguments; a value that is not JSON is the program's error. @param {string} name @param {unknown} value
   */
  argumentsOf(name, value) {
    const text = value === undefined ? "{}" : /** @type {string | undefined} */ (stringify(value));
    if (text === undefined) throw new TypeError(`the arguments of ${name} must be JSON, not a ${typeof value}`);
    const most = this.limits.maxArgumentBytes;
    const bytes = bytesAbove(text, most);
    if (bytes <= most) return text;
    throw new RangeError(`the arguments of ${name} have ${bytes} bytes, more than ${most} (sandbox.maxArgumentBytes)`);
  }
}

const { captureStackTrace } = /** @type {{ captureStackTrace?: (target: object, above: object) => void }} */ (Error);

/** @param {{ stack?: string }} target @param {object} caller */
function captureStack(target, caller) {
  if (captureStackTrace === undefined) defineValue(target, "stack", new BaseError("").stack, false);
  else captureStackTrace(target, caller);
}

/**
 * Builds the error of a failed call when the answer arrives, with the stack of the call itself. Calls nothing that a
 * program can replace: an exception here would leave the call without an answer.
 * @param {AnswerError} given @param {{ stack?: string }} place
 */
function toolError(given, place) {
  const { name, message } = given;
  const error = new BaseError(message);
  defineValue(error, "name", name, true);
  const code = getOwnPropertyDescriptor(given, "code")?.value;
  if (code !== undefined) defineValue(error, "code", code, true);
  const data = getOwnPropertyDescriptor(given, "data")?.value;
  if (data !== undefined) defineValue(error, "data", data, true);
  defineValue(error, "stack", `${name}: ${message}\n${framesOf(place)}`, false);
  return error;
}

/** V8 puts a line before the frames, QuickJS does not. @param {{ stack?: unknown }} place */
function framesOf(place) {
  try {
    // runs `Error.prepareStackTrace` of the program, which may throw or return anything
    const { stack } = place;
    return typeof stack === "string" ? withoutFirstLine(stack) : "";
  } catch {
    return "";
  }
}

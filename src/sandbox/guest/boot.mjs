// @ts-check
import { Channel } from "./channel.mjs";
import { defineConsole } from "./console.mjs";
import { createDeterminism } from "./determinism.mjs";
import { apply, BasePromise, defineLazyGlobal, parse, promiseThen, withoutSpecies } from "./intrinsics.mjs";
import { createMarks } from "./marks.mjs";
import { describeThrown, describeValue } from "./outcome.mjs";
import { createToolGlobals } from "./tool-globals.mjs";
import { createTimers } from "./timers.mjs";

const WEB_GLOBALS = [
  "AbortController",
  "AbortSignal",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "atob",
  "btoa",
  "structuredClone",
];

const UNDESCRIBED = '{"name":"Error","message":"the error cannot be described"}';

/** Placeholder until `main` sets the program's limits; no program code runs before. */
const NO_LIMITS = /** @type {import("./protocol.ts").InnerLimits} */ ({});

/**
 * Prepares a fresh context. A program can undo and forge all of it: the gateway trusts nothing that comes out of here.
 * @param {(type: string, text: string) => void} send the only way out
 * @param {string} webSource a script that evaluates to `createWebGlobals`, compiled on first use
 */
export function boot(send, webSource) {
  const channel = new Channel(send, NO_LIMITS);
  defineConsole(channel);
  const toolGlobals = createToolGlobals(channel);
  const timers = createTimers(channel, toolGlobals);
  const determinism = createDeterminism();
  const marks = createMarks(channel, toolGlobals);
  defineWebGlobals(() => evaluateWeb(webSource)(timers.sleep));

  let hasEnded = false;
  /** @param {"R" | "E"} type @param {() => string} describe */
  const end = (type, describe) => {
    if (hasEnded) return;
    hasEnded = true;
    let text = UNDESCRIBED;
    try {
      text = describe();
    } catch (error) {
      type = "E";
      try {
        text = describeThrown(error);
      } catch {
        // the program broke what describes errors; it still ends
      }
    }
    channel.flush();
    send(type, text);
  };
  /** @param {unknown} thrown */
  const fail = (thrown) => end("E", () => describeThrown(thrown));

  return {
    /** @param {() => unknown} evaluate the program's expression @param {string} args @param {string} setupText */
    main(evaluate, args, setupText) {
      const { seed, startedAt, limits } = /** @type {import("./protocol.ts").GuestSetup} */ (parse(setupText));
      channel.limits = limits;
      determinism.begin(seed, startedAt);
      const returned = (/** @type {unknown} */ value) => end("R", () => describeValue(value, channel));
      try {
        const program = evaluate();
        if (typeof program !== "function") throw new TypeError("the program is not a function");
        whenSettled(program(parse(args), marks), returned, fail);
      } catch (error) {
        fail(error);
      }
    },
    /** @param {string} text */
    settle(text) {
      const answer = /** @type {import("./protocol.ts").AnswerMessage} */ (parse(text));
      determinism.advance(answer[1]);
      channel.settle(answer[0], answer[2], answer[3]);
    },
  };
}

/**
 * Waits for a value without calling a `then` that a program can have replaced, if it is the promise of an async function.
 * @param {unknown} value @param {(value: unknown) => void} returned @param {(thrown: unknown) => void} failed
 */
function whenSettled(value, returned, failed) {
  try {
    void apply(promiseThen, withoutSpecies(/** @type {Promise<unknown>} */ (value)), [returned, failed]);
  } catch {
    const promise = withoutSpecies(new BasePromise((resolve) => resolve(value)));
    void apply(promiseThen, promise, [returned, failed]);
  }
}

// oxlint-disable-next-line no-eval -- the only way to compile later inside an isolate
const evaluate = eval;

/** @param {string} source @returns {typeof import("./web.mjs").createWebGlobals} */
const evaluateWeb = (source) => evaluate(source);

/** @param {() => Readonly<Record<string, unknown>>} load creates all web globals, on first use of any */
function defineWebGlobals(load) {
  /** @type {Readonly<Record<string, unknown>> | undefined} */
  let made;
  for (const name of WEB_GLOBALS) defineLazyGlobal(name, () => (made ??= load())[name]);
}

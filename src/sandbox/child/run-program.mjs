// @ts-check
import { FROM_CHILD, TO_CHILD } from "../guest/frame-types.mjs";
import { readFrame, writeFrames } from "./frames.mjs";

const MAX_WARNING = 2_000;

/**
 * Runs one program to its end.
 * @param {import("./engine.ts").Isolate} isolate @param {import("../guest/protocol.ts").GoMessage} message
 */
export function runProgram(isolate, message) {
  /** @type {{ end?: [type: string, text: string] }} */
  const run = {};
  /** @param {[type: string, text: string]} frame */
  const stop = (frame) => {
    run.end ??= frame;
    // A program at its limit may never return from here; the gateway kills the process.
    writeFrames(frame);
  };
  isolate.start(message, {
    send(type, text) {
      if (run.end !== undefined) return;
      if (type === FROM_CHILD.messages) writeFrames([type, text]);
      else if (type === FROM_CHILD.limit) stop([type, text]);
      else run.end = [type, text];
    },
    warn: (text) => writeFrames([FROM_CHILD.warning, text.slice(0, MAX_WARNING)]),
    limit: (limit) => stop([FROM_CHILD.limit, JSON.stringify([limit])]),
  });
  while (run.end === undefined) {
    const { type, text } = readFrame();
    if (type === TO_CHILD.answer) isolate.settle(text);
  }
  if (run.end[0] === FROM_CHILD.limit) waitToBeKilled();
  // Ends only after all microtasks: the work they do counts as the program's.
  writeFrames([FROM_CHILD.stats, readStats(isolate)], run.end);
}

/** @returns {never} */
function waitToBeKilled() {
  for (;;) readFrame();
}

/** @param {import("./engine.ts").Isolate} isolate */
function readStats(isolate) {
  try {
    return JSON.stringify(isolate.stats());
  } catch {
    return JSON.stringify({ cpuMs: 0, heapBytes: 0 }); // a result must not be lost because of its figures
  }
}

// @ts-check
/**
 * The process that runs programs, one at a time, each in its own isolate. It is plain JavaScript, because it runs
 * without a JIT compiler and may read only its own files. It blocks on stdin and has no timers, no event loop to speak
 * of and no secrets.
 */
import { FROM_CHILD, TO_CHILD } from "../guest/frame-types.mjs";
import { readFrame, writeFrames } from "./frames.mjs";
import { readGuestSource } from "./guest-source.mjs";
import { runProgram } from "./run-program.mjs";

const [kind = "", ...files] = process.argv.slice(2);
const memoryMb = Number(files.pop());

/** @returns {Promise<import("./engine.ts").IsolateEngine>} */
async function createEngine() {
  const [first = "", second = ""] = files;
  const source = readGuestSource();
  if (kind === "isolated-vm") {
    return (await import("./isolated-vm-engine.mjs")).createIsolatedVmEngine(first, source);
  }
  return (await import("./quickjs-engine.mjs")).createQuickJsEngine({ library: first, wasm: second }, source);
}

const engine = await createEngine();
/** Isolates that no program has used. */
const ready = [await engine.prepare(memoryMb)];
writeFrames([FROM_CHILD.ready, ""]);
for (;;) {
  const { type, text } = readFrame();
  if (type === TO_CHILD.prepare) ready.push(await engine.prepare(memoryMb));
  if (type !== TO_CHILD.go) continue; // an answer that arrived after the end of its run
  /** @type {import("../guest/protocol.ts").GoMessage} */
  const message = JSON.parse(text);
  const wantedMb = message.setup.limits.memoryMb;
  const isolate = (wantedMb === memoryMb ? ready.pop() : undefined) ?? (await engine.prepare(wantedMb));
  writeFrames([FROM_CHILD.begun, ""]);
  runProgram(isolate, message);
  isolate.dispose();
  if (ready.length === 0) ready.push(await engine.prepare(memoryMb));
  writeFrames([FROM_CHILD.ready, ""]);
}

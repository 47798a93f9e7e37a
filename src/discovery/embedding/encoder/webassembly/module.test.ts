import { setFlagsFromString } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { i32, loopWhile, v128, i32x4 } from "./instructions.ts";
import { compileKernels, defineKernel } from "./module.ts";

/** Adds `step` to a sum, `count` times, and stores it at `out`. */
const sum = defineKernel(["count", "step", "out"], (frame, { count, step, out }) => {
  const { total } = frame.declare("i32", "total");
  const { lanes } = frame.declare("v128", "lanes");
  return [
    ...lanes.set(v128.zero),
    ...loopWhile(count.get, total.advance(step.get), lanes.set(i32x4.add(lanes.get, lanes.get)), count.advance(-1)),
    ...i32.store(out.get, i32.add(total.get, i32x4.lane(lanes.get, 0))),
  ];
});

function bestMs(work: () => void): number {
  const times = Array.from({ length: 9 }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return Math.min(...times);
}

test("a kernel gets its parameters by name and works on the memory it was given", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  compileKernels({ sum })(memory).sum({ count: 1000, step: 3, out: 8 });
  expect(new Int32Array(memory.buffer, 8, 1)[0]).toBe(3000);
});

test("kernels are optimised at once, in a process that does not optimise WebAssembly", () => {
  expect(process.execArgv).toContain("--no-wasm-tier-up");
  const memory = new WebAssembly.Memory({ initial: 1 });
  const work = { count: 3_000_000, step: 1, out: 0 };
  const optimised = compileKernels({ sum })(memory);
  setFlagsFromString("--no-experimental-wasm-compilation-hints");
  onTestFinished(() => setFlagsFromString("--experimental-wasm-compilation-hints"));
  const baseline = compileKernels({ another: sum })(memory); // under another name, since V8 keeps modules by their bytes
  expect(bestMs(() => baseline.another(work)) / bestMs(() => optimised.sum(work))).toBeGreaterThan(1.3);
});

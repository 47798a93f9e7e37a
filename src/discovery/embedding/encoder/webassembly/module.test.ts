import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
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

type Compiler = "baseline" | "optimising";

/** Asks V8 which compiler made the functions of the module that `compile` instantiates. */
function compilersOf(compile: () => unknown): Compiler[] {
  setFlagsFromString("--allow-natives-syntax");
  onTestFinished(() => setFlagsFromString("--no-allow-natives-syntax"));
  const isOptimised = runInThisContext("(wasm) => %IsTurboFanFunction(wasm)") as (wasm: unknown) => boolean;
  using instantiate = vi.spyOn(WebAssembly, "Instance");
  compile();
  const exported = instantiate.mock.results.flatMap(({ value }) =>
    Object.values((value as WebAssembly.Instance).exports),
  );
  return exported.map((each) => (isOptimised(each) ? "optimising" : "baseline"));
}

test("a kernel gets its parameters by name and works on the memory it was given", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  compileKernels({ sum })(memory).sum({ count: 1000, step: 3, out: 8 });
  expect(new Int32Array(memory.buffer, 8, 1)[0]).toBe(3000);
});

test("kernels are optimised at once, in a process that does not optimise WebAssembly", () => {
  expect(process.execArgv).toContain("--no-wasm-tier-up");
  const memory = new WebAssembly.Memory({ initial: 1 });
  expect(compilersOf(() => compileKernels({ sum })(memory))).toEqual(["optimising"]);
  setFlagsFromString("--no-experimental-wasm-compilation-hints");
  onTestFinished(() => setFlagsFromString("--experimental-wasm-compilation-hints"));
  // Under another name, since V8 keeps modules by their bytes.
  const withoutHints = (): unknown => {
    const kernels = compileKernels({ another: sum })(memory);
    kernels.another({ count: 1, step: 1, out: 0 }); // compiled lazily
    return kernels;
  };
  expect(compilersOf(withoutHints)).toEqual(["baseline"]);
});

import { type Code, code, f32x4, i32, unsigned } from "./instructions.ts";

const TYPES = { i32: 0x7f, f32: 0x7d, v128: 0x7b } as const;
type ValueType = keyof typeof TYPES;

/** A local variable of a function. */
export interface Local {
  readonly get: Code;
  set(value: Code): Code;
  /** Adds to an i32. */
  advance(by: number | Code): Code;
}

/** Declares the local variables of a function. */
export class Frame {
  readonly #types: ValueType[] = [];
  readonly #constants: Code[] = [];
  readonly #parameters: number;

  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  declare<const Name extends string>(type: ValueType, ...names: readonly Name[]): Readonly<Record<Name, Local>> {
    const locals = names.map((name) => [name, toLocal(this.#parameters + this.#types.push(type) - 1)]);
    return Object.fromEntries(locals) as Record<Name, Local>;
  }

  /** Declares a constant in all lanes, set once before the body instead of in every iteration. */
  constant(value: number): Code {
    return this.hold(f32x4.const(value));
  }

  /** Declares a vector that is computed once before the body. */
  hold(value: Code): Code {
    const { local } = this.declare("v128", "local");
    this.#constants.push(local.set(value));
    return local.get;
  }

  /** Encodes the function: locals, instructions, end. */
  close(body: Code): Code {
    const locals = this.#types.map((type) => [1, TYPES[type]]);
    return code(unsigned(locals.length), ...locals, ...this.#constants, body, [0x0b]);
  }
}

function toLocal(index: number): Local {
  const get = [0x20, ...unsigned(index)];
  const set = (value: Code): Code => code(value, [0x21, ...unsigned(index)]);
  return {
    get,
    set,
    advance: (by) => set(i32.add(get, typeof by === "number" ? i32.const(by) : by)),
  };
}

/** A function with 32-bit parameters. */
export interface Kernel<Name extends string> {
  readonly parameters: readonly Name[];
  readonly code: Code;
}

export function defineKernel<const Name extends string>(
  parameters: readonly Name[],
  build: (frame: Frame, parameters: Readonly<Record<Name, Local>>) => Code,
): Kernel<Name> {
  const frame = new Frame(parameters.length);
  const locals = Object.fromEntries(parameters.map((name, at) => [name, toLocal(at)])) as Record<Name, Local>;
  return { parameters, code: frame.close(build(frame, locals)) };
}

type Kernels = Readonly<Record<string, Kernel<string>>>;
/** Signature of a compiled kernel. */
export type Callable<K> = K extends Kernel<infer Name> ? (values: Readonly<Record<Name, number>>) => void : never;

/** Compiles kernels; returns a function that binds them to a memory. */
export function compileKernels<K extends Kernels>(
  kernels: K,
): (memory: WebAssembly.Memory) => { readonly [Name in keyof K]: Callable<K[Name]> } {
  const module = new WebAssembly.Module(assemble(kernels));
  return (memory) => {
    const { exports } = new WebAssembly.Instance(module, { m: { m: memory } });
    const callables = Object.entries(kernels).map(([name, { parameters }]) => {
      const call = exports[name] as (...values: number[]) => void;
      return [name, (values: Readonly<Record<string, number>>) => call(...parameters.map((each) => values[each] ?? 0))];
    });
    return Object.fromEntries(callables) as { readonly [Name in keyof K]: Callable<K[Name]> };
  };
}

const section = (id: number, entries: readonly Code[]): Code => {
  const content = code(unsigned(entries.length), ...entries);
  return code([id], unsigned(content.length), content);
};
const text = (value: string): Code => [value.length, ...new TextEncoder().encode(value)];

/** Hint for a function: compile eagerly, with the optimising compiler. */
const OPTIMISE_AT_ONCE = 0b10_10_10;

/**
 * A custom section that V8 reads (`--experimental-wasm-compilation-hints`) and others skip. The process does not optimise
 * WebAssembly, to save the database's memory, and kernels would run at a third of their speed.
 */
function compilationHints(functions: number): Code {
  const hints = code(text("compilationHints"), unsigned(functions), Array<number>(functions).fill(OPTIMISE_AT_ONCE));
  return code([0], unsigned(hints.length), hints);
}

function assemble(kernels: Kernels): Uint8Array<ArrayBuffer> {
  const all = Object.entries(kernels);
  return Uint8Array.from(
    code(
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(
        1,
        all.map(([, { parameters }]) => [0x60, parameters.length, ...parameters.map(() => TYPES.i32), 0]),
      ),
      section(2, [code(text("m"), text("m"), [2, 0, 1])]), // one memory, of one page at least
      section(
        3,
        all.map((_, at) => [at]),
      ),
      section(
        7,
        all.map(([name], at) => code(text(name), [0, at])),
      ),
      compilationHints(all.length),
      section(
        10,
        all.map(([, kernel]) => code(unsigned(kernel.code.length), kernel.code)),
      ),
    ),
  );
}

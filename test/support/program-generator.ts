/** The features of a random program. */
export interface GeneratorOptions {
  readonly seed: number;
  /** `server:tool`; the program calls no others. */
  readonly tools: readonly string[];
  /** Statements in each block; nesting is bounded as well. */
  readonly size?: number;
  /** Includes annotations, assertions and the like. */
  readonly types?: boolean;
  /** Omits semicolons at the ends of lines. */
  readonly bare?: boolean;
}

const MAX_DEPTH = 3;
const IDENTIFIER = /^[a-z_$][\w$]*$/i;

/** Generates a program that terminates, whatever its tools answer or throw. Equal options give equal programs. */
export function generateProgram(options: GeneratorOptions): string {
  return new ProgramGenerator(options).program();
}

/** Reproducible random numbers (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Block {
  readonly depth: number;
  readonly inLoop: boolean;
  readonly inTry: boolean;
  /** Readable variables. */
  readonly names: readonly string[];
}

class ProgramGenerator {
  readonly #random: () => number;
  readonly #tools: readonly string[];
  readonly #size: number;
  readonly #types: boolean;
  readonly #end: string;
  readonly #helpers: string[] = [];
  #count = 0;

  constructor({ seed, tools, size = 4, types = false, bare = false }: GeneratorOptions) {
    this.#random = createRandom(seed);
    this.#tools = tools;
    this.#size = size;
    this.#types = types;
    this.#end = bare ? "" : ";";
  }

  program(): string {
    const e = this.#end;
    const aliases = this.#tools.slice(0, 2).map((tool, index) => `const alias${index} = ${this.#tool(tool)}${e}`);
    const helpers = [this.#helper(), this.#helper()];
    const body = this.#block({ depth: 0, inLoop: false, inTry: false, names: ["out"] });
    return [`const out${this.#type("unknown[]")} = []${e}`, ...aliases, ...helpers, body, `return out${e}`, ""].join(
      "\n",
    );
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }

  #name(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }

  #type(text: string): string {
    return this.#types ? `: ${text}` : "";
  }

  #tool(id: string): string {
    const [server = "", tool = ""] = id.split(/:(.*)/s);
    return `mcp${access(server)}${access(tool)}`;
  }

  #helper(): string {
    const name = this.#name("helper");
    const e = this.#end;
    const inner = { depth: 2, inLoop: false, inTry: false, names: ["x"] };
    const body = indent(this.#block(inner));
    const text = this.#pick([
      `async function ${name}(x${this.#type("any")}) {\n${body}\n  return x${e}\n}`,
      `const ${name} = async (x${this.#type("any")})${this.#type("Promise<any>")} => {\n${body}\n  return [x]${e}\n}${e}`,
      `const ${name} = async (x${this.#type("any")}) => ({ got: ${this.#call(inner)} })${e}`,
      `const ${name} = (x${this.#type("any")}) => ${this.#call(inner)}${e}`,
    ]);
    this.#helpers.push(name);
    return text;
  }

  #block(block: Block): string {
    const lines: string[] = [];
    let names = block.names;
    const count = 1 + Math.floor(this.#random() * this.#size);
    for (let index = 0; index < count; index += 1) {
      const [text, declared] = this.#statement({ ...block, names });
      lines.push(text);
      if (declared !== undefined) names = [...names, declared];
    }
    return lines.join("\n");
  }

  #statement(block: Block): readonly [text: string, declared?: string] {
    const kinds = [() => this.#declaration(block), () => this.#declaration(block), () => this.#expression(block)];
    if (block.depth < MAX_DEPTH) {
      kinds.push(
        () => [this.#branch(block)],
        () => [this.#loop(block)],
        () => [this.#guarded(block)],
        () => [this.#choice(block)],
        () => this.#parallel(block),
      );
    }
    if (block.inLoop) kinds.push(() => [`if (${this.#test(block)}) ${this.#pick(["continue", "break"])}${this.#end}`]);
    if (block.inTry) kinds.push(() => [`if (${this.#test(block)}) throw new Error("on purpose")${this.#end}`]);
    return this.#pick(kinds)();
  }

  #declaration(block: Block): readonly [string, string] {
    const name = this.#name("r");
    const value = this.#pick([
      () => `await ${this.#call(block)}`,
      () => `await ${this.#call(block)}`,
      () => `${this.#test(block)} ? await ${this.#call(block)} : ${this.#value(block)}`,
      () => `${this.#test(block)} && (await ${this.#call(block)})`,
      () => `(${this.#value(block)}, ${this.#test(block)}) || (await ${this.#call(block)})`,
      () => `${this.#pick(["null", this.#value(block)])} ?? (await ${this.#call(block)})`,
    ])();
    // Drawn in any case, so that the program is the same with and without types.
    const asserted = this.#random() < 0.3 && this.#types;
    const text = asserted ? `(${value}) as any` : value;
    return [`const ${name}${this.#type("any")} = ${text}${this.#end}`, name];
  }

  /** Never starts with a bracket, which would continue a line without a semicolon. */
  #expression(block: Block): readonly [string] {
    const e = this.#end;
    return this.#pick([
      () => [`out.push(await ${this.#call(block)})${e}`] as const,
      () => [`await ${this.#call(block)}${e}`] as const,
      () => [`await ${this.#call(block)}.then((v) => out.push(v))${e}`] as const,
      () =>
        [
          `await ${this.#pick(this.#helpers.length > 0 ? this.#helpers : ["Promise.resolve"])}(${this.#value(block)})${e}`,
        ] as const,
      () => [`out.push(${this.#value(block)})${e}`] as const,
    ])();
  }

  #call(block: Block): string {
    const tool = this.#pick(this.#tools);
    const index = this.#tools.indexOf(tool);
    const callee = index < 2 && this.#random() < 0.4 ? `alias${index}` : this.#tool(tool);
    const given = `{ n: ${Math.floor(this.#random() * 10)}, from: ${this.#value(block)} }`;
    return `${callee}${this.#pick(["", "", "?."])}(${given})`;
  }

  /** Uses lists only by their length: values that a tool echoes must not grow without limit. */
  #value({ names }: Block): string {
    const name = this.#pick(names);
    const isList = /^(?:out|all)/.test(name);
    const whole = isList ? `${name}.length` : name;
    const number = String(Math.floor(this.#random() * 100));
    return this.#pick([whole, number, '"text"', `[${whole}]`, `String(${name}).length`]);
  }

  #test({ names }: Block): string {
    const name = this.#pick(names);
    return this.#pick([`String(${name}).length % 2 === 0`, `!${name}`, `String(${name}).length > 5`, "out.length < 3"]);
  }

  #inner(block: Block, change: Partial<Block> = {}): string {
    return indent(this.#block({ ...block, depth: block.depth + 1, ...change }));
  }

  #branch(block: Block): string {
    const head = `if (${this.#test(block)})`;
    return this.#pick([
      () => `${head} {\n${this.#inner(block)}\n}`,
      () => `${head} {\n${this.#inner(block)}\n} else {\n${this.#inner(block)}\n}`,
      () => `${head} await ${this.#call(block)}${this.#end}\nelse out.push(1)${this.#end}`,
      () => `${head} out.push(2)${this.#end}\nelse if (${this.#test(block)}) {\n${this.#inner(block)}\n}`,
    ])();
  }

  #loop(block: Block): string {
    const name = this.#name("i");
    const e = this.#end;
    const body = (): string => this.#inner(block, { inLoop: true, names: [...block.names, name] });
    const list = this.#pick(["[1, 2]", '["a"]', "[]"]);
    return this.#pick([
      () => `for (let ${name} = 0; ${name} < 2; ${name}++) {\n${body()}\n}`,
      () => `for (const ${name} of ${list}) {\n${body()}\n}`,
      () => `for (const ${name} of ${list}) await ${this.#call({ ...block, names: [name] })}${e}`,
      () => `for (const ${name} in { a: 1, b: 2 }) {\n${body()}\n}`,
      () => `let ${name} = 0${e}\nwhile (${name}++ < 2) {\n${body()}\n}`,
      () =>
        `let ${name} = 0${e}\nmark${name}: do {\n${body()}\n  if (${name} > 5) continue mark${name}${e}\n} while (++${name} < 2)${e}`,
    ])();
  }

  #guarded(block: Block): string {
    const tried = `try {\n${this.#inner(block, { inTry: true })}\n}`;
    const caught = ` catch (e) {\n${this.#inner(block)}\n}`;
    const last = ` finally {\n${this.#inner(block, { inLoop: false, inTry: false })}\n}`;
    return this.#pick([tried + caught, tried + caught + last, `${tried} catch {}`]);
  }

  #choice(block: Block): string {
    const e = this.#end;
    const arm = (label: string): string => `  ${label}:\n${indent(this.#inner(block, { inLoop: false }))}\n`;
    const end = this.#pick([`    break${e}\n`, ""]);
    const fallback = this.#pick([() => "", () => arm("default")])();
    return `switch (String(${this.#pick(block.names)}).length % 3) {\n${scoped(arm("case 0"))}${end}  case 1:\n${scoped(arm("case 2"))}${scoped(fallback)}}`;
  }

  #parallel(block: Block): readonly [string, string] {
    const name = this.#name("all");
    const item = this.#name("x");
    const inner = { ...block, names: [...block.names, item] };
    const promises = this.#pick([
      () => `[${this.#call(block)}, ${this.#call(block)}, 3]`,
      () => `[1, 2].map(async (${item}${this.#type("number")}) => ${this.#call(inner)})`,
      () =>
        `["a", "b"].map(async (${item}) => {\n${this.#inner(inner, { inLoop: false, inTry: false })}\n  return ${item}${this.#end}\n})`,
    ])();
    return [`const ${name} = await Promise.${this.#pick(["all", "allSettled"])}(${promises})${this.#end}`, name];
  }
}

/** Scopes the declarations of each case, which must not collide. */
function scoped(arm: string): string {
  return arm === "" ? "" : arm.replace(":\n", ": {\n").replace(/\n$/, "\n  }\n");
}

function access(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

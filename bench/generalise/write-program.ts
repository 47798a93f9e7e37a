import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { Random } from "../../test/support/random.ts";
import type { GoldCall } from "./gold-task.ts";

type Group = readonly [GoldCall, ...GoldCall[]];

/** Writes the solution of a task as agents do: literal values, no name, in a style of its own each time. */
export function writeProgram(server: string, calls: readonly GoldCall[], random: Random): string {
  return new ProgramWriter(server, random).write(calls);
}

class ProgramWriter {
  readonly #random: Random;
  readonly #quote: string;
  readonly #access: (tool: string) => string;
  readonly #lines: string[] = [];
  readonly #results: string[] = [];
  #names = 0;

  constructor(server: string, random: Random) {
    this.#random = random;
    this.#quote = random.pick(['"', "'", "`"]);
    const access = random.pick(["direct", "brackets", "alias", "destructured"] as const);
    if (access === "alias") this.#lines.push(`const api = mcp.${server};`);
    if (access === "destructured") this.#lines.push(`const { ${server} } = mcp;`);
    this.#access = {
      direct: (tool: string) => `mcp.${server}.${tool}`,
      brackets: (tool: string) => `mcp[${JSON.stringify(server)}][${JSON.stringify(tool)}]`,
      alias: (tool: string) => `api.${tool}`,
      destructured: (tool: string) => `${server}.${tool}`,
    }[access];
  }

  write(calls: readonly GoldCall[]): string {
    for (const group of groupCalls(calls)) {
      if (this.#random.chance(20)) this.#lines.push(`// ${group[0].tool.replaceAll("_", " ")}`);
      this.#writeGroup(group);
      if (this.#random.chance(15)) this.#lines.push(`console.log(${this.#literal("done")});`);
    }
    this.#writeReturn();
    return this.#lines.join("\n");
  }

  #writeGroup(group: Group): void {
    if (group.length === 1) return this.#writeCall(group[0]);
    const way = this.#random.pick(["one by one", "all", "loop", "map"] as const);
    if (way === "one by one") group.forEach((call) => this.#writeCall(call));
    else if (way === "all") {
      const name = this.#name("all");
      this.#lines.push(`const ${name} = await Promise.all([${group.map((call) => this.#call(call)).join(", ")}]);`);
      this.#results.push(name);
    } else this.#writeLoop(group, way);
  }

  #writeLoop(group: Group, way: "loop" | "map"): void {
    const [{ tool, args }] = group;
    const item = this.#name("item");
    const inputs = `[${group.map((call) => this.#value(call.args)).join(", ")}]`;
    const keys = Object.keys(args);
    const input = this.#random.chance(50) ? item : `{ ${keys.map((key) => `${key}: ${item}.${key}`).join(", ")} }`;
    const out = this.#name("out");
    if (way === "map")
      this.#lines.push(
        `const ${out} = await Promise.all(${inputs}.map(async (${item}) => ${this.#access(tool)}(${input})));`,
      );
    else
      this.#lines.push(
        `const ${out} = [];`,
        `for (const ${item} of ${inputs}) {`,
        `  ${out}.push(await ${this.#access(tool)}(${input}));`,
        `}`,
      );
    this.#results.push(out);
  }

  #writeCall(call: GoldCall): void {
    const way = this.#random.pick(["const", "bare", "let", "destructured"] as const);
    const name = this.#name("r");
    const text = this.#call(call);
    if (way === "bare") this.#lines.push(`await ${text};`);
    else if (way === "let") this.#lines.push(`let ${name};`, `${name} = await ${text};`);
    else if (way === "destructured") this.#lines.push(`const { status: ${name} } = await ${text};`);
    else this.#lines.push(`const ${name} = await ${text};`);
    if (way !== "bare") this.#results.push(name);
  }

  /** The call itself; its values may stand in constants before it. */
  #call({ tool, args }: GoldCall): string {
    const way = this.#random.pick(["inline", "object", "values"] as const);
    if (way === "object") {
      const name = this.#name("input");
      this.#lines.push(`const ${name} = ${this.#value(args)};`);
      return `${this.#access(tool)}(${name})`;
    }
    if (way === "values") {
      const entries = this.#shuffled(Object.entries(args)).map(([key, value]) => {
        const name = this.#name(key.replaceAll(/\W/g, "_"));
        this.#lines.push(`const ${name} = ${this.#value(value)};`);
        return `${JSON.stringify(key)}: ${name}`;
      });
      return `${this.#access(tool)}({ ${entries.join(", ")} })`;
    }
    return `${this.#access(tool)}(${this.#value(args)})`;
  }

  #value(value: JsonValue): string {
    if (typeof value === "string") return this.#literal(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.#value(item)).join(", ")}]`;
    if (typeof value === "object" && value !== null) return this.#object(value as JsonObject);
    return JSON.stringify(value);
  }

  #object(value: JsonObject): string {
    const entries = this.#shuffled(Object.entries(value)).map(([key, item]) => `${key}: ${this.#value(item)}`);
    return `{ ${entries.join(", ")} }`;
  }

  #literal(text: string): string {
    const plain = JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"');
    return this.#quote + plain.replaceAll(this.#quote, `\\${this.#quote}`).replaceAll("${", "\\${") + this.#quote;
  }

  #writeReturn(): void {
    const results = this.#results;
    const last = results.at(-1);
    const ways = [
      "",
      `return ${this.#literal("ok")};`,
      ...(last === undefined ? [] : [`return ${last};`, `return { ${results.join(", ")} };`, `return [${last}];`]),
      ...(last === undefined ? [] : [`return { success: true, result: ${last} };`, `return JSON.stringify(${last});`]),
    ];
    this.#lines.push(this.#random.pick(ways));
  }

  #name(stem: string): string {
    this.#names += 1;
    return `${stem}${this.#names}`;
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: this.#random.between(0, 1_000_000) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}

/** Puts calls of one tool with the same argument names together that follow each other. */
function groupCalls(calls: readonly GoldCall[]): Group[] {
  const groups: [GoldCall, ...GoldCall[]][] = [];
  for (const call of calls) {
    const group = groups.at(-1);
    if (group !== undefined && isAlike(group[0], call)) group.push(call);
    else groups.push([call]);
  }
  return groups;
}

function isAlike(one: GoldCall, other: GoldCall): boolean {
  return one.tool === other.tool && keysOf(one) === keysOf(other);
}

function keysOf({ args }: GoldCall): string {
  return Object.keys(args).toSorted().join(",");
}

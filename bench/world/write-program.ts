import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { parseProgram } from "../../src/analysis/parse-program.ts";
import {
  type ByType,
  childrenOf,
  handlerOf,
  isFunction,
  type Node,
  type NodeOf,
} from "../../src/analysis/syntax-tree.ts";
import type { Random } from "../../test/support/random.ts";
import { ExpressionPrinter, findWritten, type Names, type Written } from "./print-expression.ts";
import { drawStyle, type Mode, type Style } from "./style.ts";
import { ToolAccess } from "./tool-access.ts";
import { entriesOf, findToolCall, type ToolCall } from "./tool-call.ts";

/** Writes a solution as agents do, in a style of its own each time; it does the same whatever the style. */
export function writeSolution(program: string, values: JsonObject, mode: Mode, random: Random): string {
  const outcome = parseProgram(program);
  if (outcome.kind === "problem") throw new Error(outcome.problem.message);
  return new SolutionWriter(random, mode).write(outcome.program.body, values);
}

type Lines = string[];

class SolutionWriter {
  readonly #random: Random;
  readonly #mode: Mode;
  readonly #style: Style;
  readonly #printer: ExpressionPrinter;
  readonly #tools: ToolAccess;
  readonly #taken = new Set(["args", "mcp", "console"]);
  /** Results that can be returned at the end. */
  readonly #results: string[] = [];

  constructor(random: Random, mode: Mode) {
    this.#random = random;
    this.#mode = mode;
    this.#style = drawStyle(random);
    this.#printer = new ExpressionPrinter(this.#style, random);
    this.#tools = new ToolAccess(this.#style, (stem) => this.#declare(stem));
  }

  write(body: readonly Node[], values: JsonObject): string {
    const start: Lines = [];
    const names = new Map([["args", this.#writeValues(values, start)]]);
    const lines: Lines = [];
    this.#writeAll(body, names, lines, true);
    if (body.at(-1)?.type !== "ReturnStatement") lines.push(...this.#ending());
    return [...this.#tools.declarations(), ...start, ...lines].join("\n");
  }

  #writeValues(values: JsonObject, lines: Lines): Written {
    const all = Object.entries(values);
    const members = (write: (key: string, value: JsonValue) => Written): Written => ({
      text: "args",
      members: new Map(all.map(([key, value]) => [key, write(key, value)])),
    });
    if (this.#mode === "literal") {
      if (this.#style.values === "inline")
        return members((_key, value) => ({ text: this.#printer.value(value), value }));
      if (this.#style.values === "constants")
        return members((key, value) => ({ text: this.#constant(camelCase(key), this.#printer.value(value), lines) }));
      const input = this.#constant("input", this.#printer.value(values), lines);
      return members((key) => ({ text: `${input}.${key}` }));
    }
    if (this.#style.values === "inline") return { text: "args" };
    if (this.#style.values === "object")
      return members((key) => ({ text: this.#constant(camelCase(key), `args.${key}`, lines) }));
    const written = members((key) => ({ text: this.#declare(key) }));
    const pattern = [...(written.members ?? [])].map(([key, { text }]) => (key === text ? key : `${key}: ${text}`));
    lines.push(`const { ${pattern.join(", ")} } = args;`);
    return written;
  }

  #writeAll(body: readonly Node[], outer: Names, lines: Lines, isProgram = false): void {
    const names = new Map(outer);
    body.forEach((statement, index) => {
      const rest = body.slice(index + 1);
      if (statement.type === "VariableDeclaration") this.#writeDeclaration(statement, rest, names, lines);
      else if (statement.type === "IfStatement" && isProgram && rest.length === 0)
        this.#writeLastIf(statement, names, lines);
      else this.#writeStatement(statement, names, lines);
      if (isProgram && this.#random.chance(this.#style.logPercent))
        lines.push(`console.log(${this.#printer.literal("done")});`);
    });
  }

  #writeStatement(statement: Node, names: Names, lines: Lines): void {
    const write = handlerOf(this.#statements, statement);
    if (write === undefined) throw new Error(`The writer does not know ${statement.type}`);
    write(statement, names, lines);
  }

  readonly #statements: ByType<readonly [Names, Lines], void> = {
    ExpressionStatement: ({ expression }, names, lines) => this.#writeExpression(expression, names, lines),
    IfStatement: (statement, names, lines) => this.#writeIf(statement, names, lines),
    ForOfStatement: (statement, names, lines) => this.#writeLoop(statement, names, lines),
    TryStatement: (statement, names, lines) => this.#writeTry(statement, names, lines),
    ReturnStatement: (statement, names, lines) => this.#writeReturn(statement, names, lines),
  };

  #writeExpression(expression: Node, names: Names, lines: Lines): void {
    const call = findToolCall(expression);
    if (call === undefined) lines.push(`${this.#printer.print(expression, names)};`);
    else lines.push(`await ${this.#call(call, names, lines)};`);
  }

  // Declarations

  #writeDeclaration(
    { declarations: [declaration] }: NodeOf<"VariableDeclaration">,
    rest: readonly Node[],
    names: Map<string, Written>,
    lines: Lines,
  ): void {
    if (declaration?.init === null || declaration === undefined) throw new Error("A variable needs a value");
    const { id, init } = declaration;
    const call = findToolCall(init);
    if (call !== undefined) return this.#writeResult(id, rest, { call, names, lines });
    if (id.type !== "Identifier") throw new Error("The writer knows patterns of results only");
    const text = this.#printer.print(init, names);
    // An empty list is filled later.
    const isInline = text !== "[]" && this.#random.chance(40);
    names.set(id.name, { text: isInline ? text : this.#constant(id.name, text, lines) });
  }

  #writeResult(
    id: Node,
    rest: readonly Node[],
    { call, names, lines }: { readonly call: ToolCall; readonly names: Map<string, Written>; readonly lines: Lines },
  ): void {
    const value = `await ${this.#call(call, names, lines)}`;
    const keys = id.type === "Identifier" ? findMembers(id.name, rest) : undefined;
    const isPattern = id.type === "ObjectPattern" || (keys !== undefined && keys.size > 0);
    if (isPattern && this.#random.chance(40)) return this.#writePattern(id, keys, { value, names, lines });
    const name = this.#writeNamed(id.type === "Identifier" ? id.name : "result", value, lines);
    if (id.type === "Identifier") names.set(id.name, { text: name });
    for (const key of patternKeys(id)) names.set(key, { text: `${name}.${key}` });
  }

  #writePattern(
    id: Node,
    keys: ReadonlySet<string> | undefined,
    { value, names, lines }: { readonly value: string; readonly names: Map<string, Written>; readonly lines: Lines },
  ): void {
    const members = new Map([...(keys ?? patternKeys(id))].map((key) => [key, { text: this.#declare(key) }]));
    const pattern = [...members].map(([key, { text }]) => (key === text ? key : `${key}: ${text}`));
    lines.push(`const { ${this.#printer.shuffled(pattern).join(", ")} } = ${value};`);
    if (id.type === "Identifier") names.set(id.name, { text: id.name, members });
    else for (const [key, written] of members) names.set(key, written);
  }

  #writeNamed(stem: string, value: string, lines: Lines): string {
    const name = this.#declare(this.#random.pick([stem, stem, "result", "data"]));
    if (this.#random.chance(10)) lines.push(`let ${name};`, `${name} = ${value};`);
    else lines.push(`const ${name} = ${value};`);
    this.#results.push(name);
    return name;
  }

  // Calls

  /** The call itself; its arguments may stand in constants before it. */
  #call(call: ToolCall, names: Names, lines: Lines): string {
    const { server, tool, input, entries } = call;
    if (this.#random.chance(this.#style.commentPercent)) lines.push(`// ${tool.replaceAll("_", " ")}`);
    if (this.#style.helpers !== "none") {
      const helper = this.#tools.helper(
        server,
        tool,
        entries.map(([key]) => key),
      );
      return `${helper}(${entries.map(([, value]) => this.#printer.print(value, names)).join(", ")})`;
    }
    const target = this.#tools.reach(server, tool);
    const way = this.#random.pick(["inline", "inline", "object", "values"] as const);
    if (way === "inline") return `${target}(${this.#printer.object(input, names)})`;
    if (way === "object") return `${target}(${this.#constant("params", this.#printer.object(input, names), lines)})`;
    const given = entries.map(([key, value]) => {
      const text = this.#printer.print(value, names);
      const isName = /^[\w.]+$/.test(text);
      return `${key}: ${isName ? text : this.#constant(camelCase(key), text, lines)}`;
    });
    return `${target}({ ${this.#printer.shuffled(given).join(", ")} })`;
  }

  // Blocks

  #writeIf({ test, consequent, alternate }: NodeOf<"IfStatement">, names: Names, lines: Lines): void {
    lines.push(`if (${this.#printer.print(test, names)}) {`, ...this.#block(consequent, names));
    if (alternate !== null) lines.push("} else {", ...this.#block(alternate, names));
    lines.push("}");
  }

  /** The last step of a program can be guarded by leaving it. */
  #writeLastIf(statement: NodeOf<"IfStatement">, names: Names, lines: Lines): void {
    const { test, consequent, alternate } = statement;
    if (!this.#style.guards || alternate !== null || consequent.type !== "BlockStatement")
      return this.#writeIf(statement, names, lines);
    const left = this.#random.pick(["return;", "return null;", `return ${this.#printer.literal("nothing to do")};`]);
    lines.push(`if (${this.#printer.print(negate(test), names)}) ${left}`);
    this.#writeAll(consequent.body, names, lines);
  }

  #writeLoop({ left, right, body }: NodeOf<"ForOfStatement">, names: Names, lines: Lines): void {
    const [declaration] = left.type === "VariableDeclaration" ? left.declarations : [];
    if (declaration?.id.type !== "Identifier") throw new Error("The writer knows loops with one variable only");
    const { name } = declaration.id;
    const list = findWritten(right, names)?.value;
    if (Array.isArray(list) && this.#random.chance(35)) return this.#writeUnrolled(name, list, body, { names, lines });
    const item = this.#declare(this.#random.pick([name, name, "item"]));
    const inner = new Map(names).set(name, { text: item });
    const over = this.#printer.print(right, names);
    const block = this.#block(body, inner);
    const isOneCall = block.filter((line) => line.includes("await ")).length === 1;
    if (!isOneCall || this.#random.chance(55)) lines.push(`for (const ${item} of ${over}) {`, ...block, "}");
    else this.#writeMap(`${over}.map(async (${item}) =>`, block, lines);
  }

  #writeMap(start: string, block: readonly string[], lines: Lines): void {
    const [only, ...others] = block;
    const call = others.length === 0 ? /^ {2}await (.*);$/.exec(only ?? "")?.[1] : undefined;
    if (call === undefined) lines.push(`await Promise.all(${start} {`, ...block, "}));");
    else lines.push(`await Promise.all(${start} ${call}));`);
  }

  #writeUnrolled(
    name: string,
    list: readonly JsonValue[],
    body: Node,
    { names, lines }: { readonly names: Names; readonly lines: Lines },
  ): void {
    for (const value of list) {
      const inner = new Map(names).set(name, { text: this.#printer.value(value), value });
      lines.push(...this.#block(body, inner).map((line) => line.slice(2)));
    }
  }

  #writeTry({ block, handler }: NodeOf<"TryStatement">, names: Names, lines: Lines): void {
    if (handler === null) throw new Error("The writer knows try with catch only");
    const error = this.#random.chance(50) ? " (error)" : "";
    lines.push("try {", ...this.#block(block, names), `} catch${error} {`, ...this.#block(handler.body, names), "}");
  }

  #block(statement: Node, names: Names): Lines {
    const lines: Lines = [];
    const count = this.#results.length;
    this.#writeAll(statement.type === "BlockStatement" ? statement.body : [statement], names, lines);
    // Results of a block are unknown after it.
    this.#results.length = count;
    return lines.map((line) => `  ${line}`);
  }

  // Results

  #writeReturn({ argument }: NodeOf<"ReturnStatement">, names: Names, lines: Lines): void {
    if (argument?.type !== "ObjectExpression") {
      lines.push(argument === null ? "return;" : `return ${this.#printer.print(argument, names)};`);
      return;
    }
    const [[key, value] = ["", argument]] = entriesOf(argument);
    const text = this.#printer.print(value, names);
    const way = this.#random.pick(["wrapped", "wrapped", "named", "bare"] as const);
    if (way === "wrapped") lines.push(`return { ${key}: ${text} };`);
    else if (way === "bare") lines.push(`return ${text};`);
    else lines.push(`return { ${key}: ${this.#constant(key, text, lines)} };`);
  }

  /** The end of a program that has nothing to say. */
  #ending(): Lines {
    const last = this.#results.at(-1);
    const ways = [
      [],
      [`return ${this.#printer.literal("ok")};`],
      [`return { success: true };`],
      ...(last === undefined ? [] : [[`return ${last};`], [`return { result: ${last} };`]]),
    ];
    return this.#random.pick(ways);
  }

  // Names

  #constant(stem: string, text: string, lines: Lines): string {
    const name = this.#declare(stem);
    lines.push(`const ${name} = ${text};`);
    return name;
  }

  #declare(stem: string): string {
    let name = stem;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${stem}${number}`;
    this.#taken.add(name);
    return name;
  }
}

function patternKeys(id: Node): string[] {
  if (id.type !== "ObjectPattern") return [];
  return id.properties.map((property) => {
    if (property.type !== "Property" || property.key.type !== "Identifier")
      throw new Error("A pattern has plain names");
    return property.key.name;
  });
}

/** Finds the members by which a name is read; undefined where it is read as a whole. */
function findMembers(name: string, nodes: readonly Node[]): ReadonlySet<string> | undefined {
  const keys = new Set<string>();
  const left = [...nodes];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.type === "Identifier" && node.name === name) return undefined;
    const isHidden = isFunction(node) && node.params.some((each) => each.type === "Identifier" && each.name === name);
    if (isHidden) continue;
    const key = node.type === "MemberExpression" ? memberKey(node, name) : undefined;
    if (key !== undefined) keys.add(key);
    else if (node.type === "Property") left.push(node.value);
    else if (node.type === "MemberExpression" && !node.computed) left.push(node.object);
    else left.push(...childrenOf(node));
  }
  return keys;
}

/** The key in `name.key`. */
function memberKey({ object, property, computed }: NodeOf<"MemberExpression">, name: string): string | undefined {
  const isOf = object.type === "Identifier" && object.name === name;
  return isOf && !computed && property.type === "Identifier" ? property.name : undefined;
}

const OPPOSITES: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
};

function negate(test: Node): Node {
  const opposite = test.type === "BinaryExpression" ? OPPOSITES[test.operator] : undefined;
  if (opposite === undefined) throw new Error("The writer negates comparisons only");
  return { ...test, operator: opposite } as Node;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

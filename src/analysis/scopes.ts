import {
  bind,
  type Binding,
  bindingOf,
  createBinding,
  type FunctionInfo,
  type Identifier,
  type Write,
} from "./bindings.ts";
import { namesIn } from "./patterns.ts";
import {
  type ByType,
  type Entering,
  type FunctionNode,
  isFunction,
  type Leaving,
  type Node,
  type NodeOf,
  type TreeVisitor,
} from "./syntax-tree.ts";

interface LexicalScope {
  readonly parent: LexicalScope | undefined;
  readonly names: Map<string, Binding>;
  readonly isFunction: boolean;
}

interface FreeName {
  readonly reads: Identifier[];
  readonly writes: Write[];
}

/** Nodes with a scope of their own; the body of a function shares that of its parameters. */
const SCOPED: ReadonlySet<string> = new Set<Node["type"]>([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "BlockStatement",
  "StaticBlock",
  "SwitchStatement",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "CatchClause",
  "ClassExpression",
  "TSEnumDeclaration",
]);
const FILLING = new Set(["push", "unshift", "add", "set", "splice"]);
const BUILTINS = ["args", "mcp", "capabilities"] as const;

/** Resolves names to variables. Complete after `finish`. */
export class Scopes implements TreeVisitor {
  readonly functions = new Map<Node, FunctionInfo>();
  /** Undeclared names. */
  readonly free = new Map<string, FreeName>();
  readonly #references: { readonly node: Identifier; readonly scope: LexicalScope }[] = [];
  readonly #pendingWrites = new Map<Identifier, Write>();
  readonly #fills: { readonly target: Identifier; readonly value: Node }[] = [];
  readonly #functionStack: FunctionInfo[] = [];
  readonly #declared = new Set<string>();
  readonly #root: LexicalScope = { parent: undefined, names: new Map(), isFunction: true };
  #scope = this.#root;

  constructor() {
    for (const name of BUILTINS) this.#root.names.set(name, createBinding(name, true));
  }

  /** True if the program declares the name anywhere. */
  isDeclared(name: string): boolean {
    return this.#declared.has(name);
  }

  builtin(name: (typeof BUILTINS)[number]): Binding | undefined {
    return this.#root.names.get(name);
  }

  /** Returns the function that a call always calls. */
  calledFunction(callee: Node): FunctionNode | undefined {
    return isFunction(callee) ? callee : bindingOf(callee)?.fn;
  }

  /** Returns the one value of a name: its initialiser, or the argument in the only call of its function. */
  definitionOf(node: Node): Node | undefined {
    const binding = bindingOf(node);
    const write = binding?.writes[0];
    if (binding?.writes.length !== 1 || write === undefined || !write.whole) return undefined;
    return write.kind === "parameter" ? this.#onlyArgument(write.target) : write.source;
  }

  #onlyArgument(parameter: Node): Node | undefined {
    const fn = parameter.parent;
    if (!fn || !isFunction(fn)) return undefined;
    const [read, ...others] = this.functions.get(fn)?.binding?.reads ?? [];
    const call = others.length === 0 ? read?.parent : undefined;
    if (call?.type !== "CallExpression" || call.callee !== read) return undefined;
    const given = call.arguments.slice(0, fn.params.indexOf(parameter as FunctionNode["params"][number]) + 1);
    return given.some(({ type }) => type === "SpreadElement") ? undefined : given.at(-1);
  }

  enter(type: Node["type"]): Entering | undefined {
    return this.#entering[type] as Entering | undefined;
  }

  readonly #entering: ByType<readonly [string], void> = {
    FunctionDeclaration: (node) => this.#enterFunction(node),
    FunctionExpression: (node) => this.#enterFunction(node),
    ArrowFunctionExpression: (node) => this.#enterFunction(node),
    BlockStatement: (node) => isBodyOfFunction(node) || this.#push(false),
    StaticBlock: () => this.#push(false),
    SwitchStatement: () => this.#push(false),
    ForStatement: () => this.#push(false),
    ForInStatement: (node) => this.#enterEach(node),
    ForOfStatement: (node) => this.#enterEach(node),
    CatchClause: (node) => this.#enterCatch(node),
    ClassDeclaration: (node) => node.id && this.#declare(node.id, this.#scope, "other"),
    ClassExpression: (node) => this.#enterClass(node),
    TSEnumDeclaration: (node) => this.#enterEnum(node),
    VariableDeclarator: (node) => this.#declareVariable(node),
    AssignmentExpression: (node) => this.#assign(node),
    UpdateExpression: (node) => this.#writePattern(node.argument, "update"),
    CallExpression: (node) => this.#fillByCall(node),
    Identifier: (node, key) => this.#refer(node, key),
    ReturnStatement: ({ argument }) => argument && this.#functionStack.at(-1)?.returns.push(argument),
    YieldExpression: ({ argument }) => argument && this.#functionStack.at(-1)?.returns.push(argument),
  };

  leave(type: Node["type"]): Leaving | undefined {
    return SCOPED.has(type) ? this.#leave : undefined;
  }

  readonly #leave = (node: Node): void => {
    if (isBodyOfFunction(node)) return;
    if (isFunction(node)) this.#functionStack.pop();
    this.#scope = this.#scope.parent ?? this.#root;
  };

  finish(): void {
    for (const { node, scope } of this.#references) this.#resolve(node, scope);
    for (const { target, value } of this.#fills) bindingOf(target)?.inflows.push(value);
    for (const info of this.functions.values()) this.#nameFunction(info);
  }

  #push(ofFunction: boolean): void {
    this.#scope = { parent: this.#scope, names: new Map(), isFunction: ofFunction };
  }

  #enterFunction(node: FunctionNode): void {
    const info: FunctionInfo = { node, returns: [] };
    if (node.body !== null && node.body.type !== "BlockStatement") info.returns.push(node.body);
    this.functions.set(node, info);
    this.#functionStack.push(info);
    if (node.type === "FunctionDeclaration" && node.id !== null) this.#declare(node.id, this.#scope, "other");
    this.#push(true);
    if (node.type === "FunctionExpression" && node.id !== null) this.#declare(node.id, this.#scope, "other");
    for (const parameter of node.params) this.#declarePattern(parameter, this.#scope, "parameter");
  }

  #enterEach({ left, right }: NodeOf<"ForInStatement" | "ForOfStatement">): void {
    this.#push(false);
    if (left.type !== "VariableDeclaration") this.#writePattern(left, "each", right);
  }

  #enterCatch({ param }: NodeOf<"CatchClause">): void {
    this.#push(false);
    if (param !== null) this.#declarePattern(param, this.#scope, "other");
  }

  #enterClass({ id }: NodeOf<"ClassExpression">): void {
    this.#push(false);
    if (id !== null) this.#declare(id, this.#scope, "other");
  }

  /** Gives an enumeration a scope: members can refer to each other by name. */
  #enterEnum({ id, body }: NodeOf<"TSEnumDeclaration">): void {
    this.#declare(id, this.#scope, "other");
    this.#push(false);
    for (const member of body.members) {
      if (member.id.type === "Identifier") this.#declare(member.id, this.#scope, "other");
    }
  }

  #declareVariable({ id, init, parent: declaration }: NodeOf<"VariableDeclarator">): void {
    if (declaration?.type !== "VariableDeclaration") return;
    const scope = declaration.kind === "var" ? this.#functionScope() : this.#scope;
    const loop = declaration.parent;
    if (loop?.type === "ForOfStatement" || loop?.type === "ForInStatement") {
      this.#declarePattern(id, scope, "each", loop.right);
    } else this.#declarePattern(id, scope, "init", init ?? undefined);
  }

  #functionScope(): LexicalScope {
    let scope = this.#scope;
    while (!scope.isFunction && scope.parent !== undefined) scope = scope.parent;
    return scope;
  }

  #declarePattern(pattern: Node, scope: LexicalScope, kind: Write["kind"], source?: Node): void {
    if (pattern.type === "Identifier") this.#declare(pattern, scope, kind, source);
    else for (const target of namesIn(pattern)) this.#declare(target, scope, kind, source, false);
  }

  // oxlint-disable-next-line max-params -- the parts of one declaration
  #declare(target: Identifier, scope: LexicalScope, kind: Write["kind"], source?: Node, whole = true): void {
    let binding = scope.names.get(target.name);
    if (binding === undefined) {
      binding = createBinding(target.name, false);
      this.#declared.add(target.name);
      scope.names.set(target.name, binding);
    }
    bind(target, binding);
    // `let x;` is no write: a single later assignment still defines the variable.
    if (kind !== "init" || source !== undefined) binding.writes.push({ kind, target, source, whole });
  }

  #assign({ left, operator, right }: NodeOf<"AssignmentExpression">): void {
    this.#writePattern(left, operator === "=" ? "assign" : "update", right);
    this.#fill(left, right);
  }

  #fillByCall({ callee, arguments: given }: NodeOf<"CallExpression">): void {
    if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
    if (FILLING.has(callee.property.name)) for (const argument of given) this.#fill(callee, argument);
  }

  #refer(node: Identifier, key: string): void {
    if (isReference(node, key) && bindingOf(node) === undefined) this.#references.push({ node, scope: this.#scope });
  }

  #writePattern(pattern: Node, kind: Write["kind"], source?: Node): void {
    for (const target of namesIn(pattern)) {
      this.#pendingWrites.set(target, { kind, target, source, whole: target === pattern });
    }
  }

  /** Records a value stored inside the object that the leftmost name of `target` holds. */
  #fill(target: Node, value: Node): void {
    let object = target;
    while (object.type === "MemberExpression") object = object.object;
    if (object !== target && object.type === "Identifier") this.#fills.push({ target: object, value });
  }

  #resolve(node: Identifier, from: LexicalScope): void {
    const write = this.#pendingWrites.get(node);
    let binding: Binding | undefined;
    for (let scope: LexicalScope | undefined = from; scope && !binding; scope = scope.parent)
      binding = scope.names.get(node.name);
    if (binding !== undefined) bind(node, binding);
    const found = binding ?? this.#freeName(node.name);
    if (write !== undefined) found.writes.push(write);
    if (write === undefined || write.kind === "update") found.reads.push(node);
  }

  #freeName(name: string): FreeName {
    const known = this.free.get(name);
    if (known !== undefined) return known;
    const created: FreeName = { reads: [], writes: [] };
    this.free.set(name, created);
    return created;
  }

  #nameFunction(info: FunctionInfo): void {
    const { node } = info;
    const target = node.type === "FunctionDeclaration" ? node.id : assignedName(node);
    const binding = bindingOf(target);
    const write = binding?.writes[0];
    if (binding === undefined || binding.writes.length !== 1 || write?.target !== target) return;
    binding.fn = node;
    info.binding = binding;
  }
}

/** Returns `f` for `const f = () => …` and for `f = () => …`. */
function assignedName(node: Node): Node | undefined {
  const { parent } = node;
  if (parent?.type === "VariableDeclarator") return parent.id;
  return parent?.type === "AssignmentExpression" && parent.operator === "=" ? parent.left : undefined;
}

/** True for the body of a function, which shares the scope of the parameters. */
function isBodyOfFunction(node: Node): boolean {
  return node.type === "BlockStatement" && node.parent !== undefined && isFunction(node.parent);
}

/** False for property names, labels and the like. */
function isReference({ parent }: Identifier, key: string): boolean {
  if (parent === undefined) return false;
  if (key === "property" || key === "key") return (parent as { readonly computed?: boolean }).computed === true;
  return key !== "label" && key !== "meta" && !(key === "id" && parent.type !== "VariableDeclarator");
}

import type { JsonValue } from "../../base/json.ts";
import { bindingOf } from "../bindings.ts";
import { findMemberKey, findString } from "../constants.ts";
import {
  type ByType,
  type FunctionNode,
  handlerOf,
  isFunction,
  type Node,
  type NodeOf,
  staticKey,
} from "../syntax-tree.ts";
import { Calls, type Evaluation } from "./calls.ts";
import { withoutNegation } from "./conditions.ts";
import type { EvaluatedProgram, ProgramParts } from "./evaluated-program.ts";
import { toLifted } from "./lift-arguments.ts";
import { ARGS, asText, concatenation, isText, memberOf, outsideList, parameterHole } from "./members.ts";
import { CONSTRUCTORS } from "./pure.ts";
import { declared, hasJump, hasReturn, isGuard, statementsOf } from "./statements.ts";
import { type Effect, type ObjectEntry, operation, sizeOf, type Term, UNDEFINED, UnknownConstruct } from "./term.ts";
import { Trace } from "./trace.ts";

/** Bounds the work on a hostile program. */
const MOST_TERMS = 5_000;
const MOST_INLINED = 8;
const DEEPEST = 250;

/**
 * Evaluates a program symbolically to its steps in the order in which they run. Constants are replaced by their values
 * and local functions by their bodies, so that spelling does not matter.
 */
export function evaluate(body: readonly Node[], parts: ProgramParts): EvaluatedProgram {
  const evaluator = new Evaluator(parts);
  return evaluator.run(body);
}

class Evaluator implements Evaluation {
  readonly #parts: ProgramParts;
  readonly #trace = new Trace();
  readonly #calls: Calls;
  readonly #literals: Extract<Term, { kind: "literal" }>[] = [];
  readonly #inlining: FunctionNode[] = [];
  #terms = 0;
  #nesting = 0;

  constructor(parts: ProgramParts) {
    this.#parts = parts;
    const args = parts.scopes.builtin("args");
    if (args !== undefined) this.#trace.know(args, ARGS);
    const { scopes, sites } = parts;
    this.#calls = new Calls({ scopes, sites, trace: this.#trace, evaluation: this });
  }

  run(body: readonly Node[]): EvaluatedProgram {
    this.#executeAll(body);
    const { targets, places } = this.#calls;
    const lifted = places.flatMap(toLifted);
    return { effects: this.#trace.effects, targets, places, lifted, literals: this.#literals };
  }

  // Statements

  /** Statements after a guard are its other arm: `if (!a) return; b();` is `if (a) b();`. */
  #executeAll(statements: readonly Node[]): void {
    for (const [index, statement] of statements.entries()) {
      const rest = statements.slice(index + 1);
      if (isGuard(statement) && rest.length > 0) return this.#if(statement, () => this.#executeAll(rest));
      this.#execute(statement);
    }
  }

  #if({ test, consequent, alternate }: NodeOf<"IfStatement">, otherwise?: () => void): void {
    const { test: condition, isNegated } = withoutNegation(this.evaluate(test));
    const first = this.#trace.capture(() => this.#execute(consequent));
    const second = this.#trace.capture(() => {
      if (alternate !== null) this.#execute(alternate);
      otherwise?.();
    });
    this.#branch("if", condition, isNegated ? [second, first] : [first, second]);
  }

  #execute(statement: Node): void {
    const handler = handlerOf(this.#statements, statement);
    if (handler === undefined) throw new UnknownConstruct(statement.type);
    handler(statement);
  }

  readonly #statements: ByType<readonly [], void> = {
    VariableDeclaration: ({ declarations }) => {
      for (const { id, init } of declarations) {
        // A function is evaluated where it is called.
        const isNamed = init !== null && isFunction(init) && bindingOf(id)?.fn === init;
        if (!isNamed) this.#assign(id, init === null ? UNDEFINED : this.evaluate(init));
      }
    },
    ExpressionStatement: ({ expression }) => void this.evaluate(expression),
    BlockStatement: ({ body }) => this.#executeAll(body),
    EmptyStatement: () => undefined,
    FunctionDeclaration: () => undefined,
    ReturnStatement: ({ argument }) => this.#leave("return", argument),
    ThrowStatement: ({ argument }) => this.#leave("throw", argument),
    BreakStatement: ({ label }) => this.#jump("break", label),
    ContinueStatement: ({ label }) => this.#jump("continue", label),
    IfStatement: (node) => this.#if(node),
    SwitchStatement: (node) => this.#switch(node),
    TryStatement: (node) => this.#try(node),
    ForOfStatement: ({ left, right, body }) =>
      this.#each(this.evaluate(right), hasJump(body), (item) => {
        this.#assign(left.type === "VariableDeclaration" ? declared(left) : left, item);
        this.#execute(body);
      }),
    ForInStatement: ({ left, right, body }) =>
      this.#loop("in", this.evaluate(right), (item) => {
        this.#assign(left.type === "VariableDeclaration" ? declared(left) : left, item);
        this.#execute(body);
      }),
    ForStatement: ({ init, test, update, body }) => {
      if (init?.type === "VariableDeclaration") this.#execute(init);
      else if (init) this.evaluate(init);
      this.#while("while", test, () => {
        this.#execute(body);
        if (update !== null) this.evaluate(update);
      });
    },
    WhileStatement: ({ test, body }) => this.#while("while", test, () => this.#execute(body)),
    DoWhileStatement: ({ test, body }) => this.#while("do", test, () => this.#execute(body)),
  };

  #leave(how: "return" | "throw", argument: Node | null): void {
    const value = argument === null ? undefined : this.evaluate(argument);
    this.#trace.emit({ kind: "leave", how, value });
  }

  #jump(how: "break" | "continue", label: Node | null): void {
    if (label !== null) throw new UnknownConstruct("label");
    this.#trace.emit({ kind: "leave", how, value: undefined });
  }

  #branch(name: string, test: Term, arms: readonly (readonly Effect[])[]): void {
    this.#trace.emit({ kind: "branch", name, test, arms: arms.map((body) => ({ label: undefined, body })) });
  }

  #switch({ discriminant, cases }: NodeOf<"SwitchStatement">): void {
    const test = this.evaluate(discriminant);
    const arms = cases.map((each) => ({
      label: each.test === null ? undefined : this.evaluate(each.test),
      body: this.#trace.capture(() => each.consequent.forEach((statement) => this.#execute(statement))),
    }));
    this.#trace.emit({ kind: "branch", name: "switch", test, arms });
  }

  #try({ block, handler, finalizer }: NodeOf<"TryStatement">): void {
    const arms = [this.#trace.capture(() => this.#execute(block))];
    arms.push(
      this.#trace.capture(() => {
        if (handler === null) return;
        if (handler.param !== null) this.#assign(handler.param, operation("error"));
        this.#execute(handler.body);
      }),
      this.#trace.capture(() => finalizer !== null && this.#execute(finalizer)),
    );
    this.#branch("try", UNDEFINED, arms);
  }

  #while(name: string, test: Node | null, run: () => void): void {
    const over = test === null ? UNDEFINED : this.evaluate(test);
    this.#trace.emit({ kind: "loop", name, over, body: this.#trace.capture(run), value: undefined });
  }

  /** Runs through a list. One that comes from outside stands for any number of items, one included: no loop is left. */
  #each(over: Term, jumps: boolean, run: (item: Term) => void): void {
    const outside = outsideList(over);
    if (outside !== undefined && !jumps) run(outside);
    else this.#loop("each", over, run);
  }

  #loop(name: string, over: Term, run: (item: Term) => void): void {
    const item: Term = { kind: "item", depth: this.#trace.depth, index: 0 };
    const body = this.#trace.deeper(() => this.#trace.capture(() => run(item)));
    this.#trace.emit({ kind: "loop", name, over, body, value: undefined });
  }

  // Variables

  #assign(target: Node, value: Term): void {
    if (target.type === "Identifier") this.#trace.assign(target, value);
    else if (target.type === "AssignmentPattern") this.#assign(target.left, this.#withDefault(value, target.right));
    else if (target.type === "ObjectPattern") this.#assignObject(target, value);
    else if (target.type === "ArrayPattern") this.#assignList(target, value);
    else if (target.type === "MemberExpression") this.#fillMember(target, value);
    else throw new UnknownConstruct(target.type);
  }

  #withDefault(value: Term, fallback: Node): Term {
    // A parameter with a default is a parameter; the default is a value like any other.
    return value.kind === "hole" ? value : operation("??", value, this.evaluate(fallback));
  }

  #assignObject(pattern: NodeOf<"ObjectPattern">, value: Term): void {
    const taken: string[] = [];
    for (const property of pattern.properties) {
      if (property.type === "RestElement") {
        this.#assign(property.argument, operation(`without ${taken.toSorted().join(" ")}`, value));
        continue;
      }
      const key = property.computed ? findString(property.key, this.#parts.scopes) : staticKey(property);
      if (key === undefined) throw new UnknownConstruct("computed key in a pattern");
      taken.push(key);
      this.#assign(property.value, memberOf(value, key));
    }
  }

  #assignList(pattern: NodeOf<"ArrayPattern">, value: Term): void {
    pattern.elements.forEach((element, index) => {
      if (element === null) return;
      if (element.type === "RestElement") this.#assign(element.argument, operation(`from ${index}`, value));
      else this.#assign(element, memberOf(value, String(index)));
    });
  }

  #fillMember(target: NodeOf<"MemberExpression">, value: Term): void {
    const key = findMemberKey(target, this.#parts.scopes);
    const named = key === undefined ? this.evaluate(target.property) : operation(`key ${key}`);
    this.#trace.fill(target.object, [named, value]);
  }

  // Expressions

  evaluate(node: Node): Term {
    this.#terms += 1;
    if (this.#terms > MOST_TERMS) throw new UnknownConstruct("too large");
    const handler = handlerOf(this.#expressions, node);
    if (handler === undefined) throw new UnknownConstruct(node.type);
    this.#nesting += 1;
    if (this.#nesting > DEEPEST) throw new UnknownConstruct("too deep");
    const term = handler(node);
    this.#nesting -= 1;
    if (sizeOf(term) > MOST_TERMS) throw new UnknownConstruct("too large");
    return term;
  }

  readonly #expressions: ByType<readonly [], Term> = {
    Literal: (node) => this.#literal(node),
    TemplateLiteral: (node) => this.#template(node),
    Identifier: (node) => this.#name(node),
    MemberExpression: (node) => this.#member(node),
    ChainExpression: ({ expression }) => this.evaluate(expression),
    AwaitExpression: ({ argument }) => this.evaluate(argument),
    CallExpression: (node) => this.#calls.call(node),
    NewExpression: (node) => this.#new(node),
    ObjectExpression: ({ properties }) => ({
      kind: "object",
      entries: properties.map((property) => this.#entry(property)),
    }),
    ArrayExpression: (node) => ({
      kind: "list",
      origin: node,
      items: node.elements.map((element) => (element === null ? UNDEFINED : this.element(element))),
    }),
    UnaryExpression: ({ operator, argument }) => this.#unary(operator, argument),
    BinaryExpression: (node) => this.#binary(node),
    LogicalExpression: ({ operator, left, right }) => this.#logical(operator, this.evaluate(left), right),
    ConditionalExpression: ({ test, consequent, alternate }) => this.#conditional(test, consequent, alternate),
    AssignmentExpression: (node) => this.#assignment(node),
    UpdateExpression: ({ operator, argument }) => this.#update(argument, operator),
    SequenceExpression: ({ expressions }) =>
      expressions.reduce<Term>((_, expression) => this.evaluate(expression), UNDEFINED),
    ArrowFunctionExpression: (node) => this.#lambda(node),
    FunctionExpression: (node) => this.#lambda(node),
  };

  #literal(node: NodeOf<"Literal">): Term {
    if ("regex" in node) return operation(`regex ${node.raw}`);
    if (typeof node.value === "bigint") return operation(`bigint ${node.raw}`);
    const literal = { kind: "literal", value: node.value as JsonValue, origin: node } as const;
    this.#literals.push(literal);
    return literal;
  }

  #template(node: NodeOf<"TemplateLiteral">): Term {
    const parts = node.quasis.flatMap(({ value }, index): Term[] => {
      const expression = node.expressions[index];
      const text: Term[] = value.cooked === "" ? [] : [operation(`text ${JSON.stringify(value.cooked)}`)];
      return expression === undefined ? text : [...text, this.evaluate(expression)];
    });
    if (node.expressions.length > 0) return concatenation(parts);
    const literal = { kind: "literal", value: node.quasis[0]?.value.cooked ?? "", origin: node } as const;
    this.#literals.push(literal);
    return literal;
  }

  #name(node: NodeOf<"Identifier">): Term {
    const binding = bindingOf(node);
    if (binding === undefined) {
      if (this.#parts.implicitParameters.includes(node.name)) return parameterHole(node.name);
      return node.name === "undefined" ? UNDEFINED : operation(`global ${node.name}`);
    }
    return (
      this.#trace.find(binding) ?? (binding.fn === undefined ? this.#trace.read(binding) : this.#lambda(binding.fn))
    );
  }

  #member(node: NodeOf<"MemberExpression">): Term {
    const object = this.evaluate(node.object);
    const key = findMemberKey(node, this.#parts.scopes);
    return key === undefined ? operation("at", object, this.evaluate(node.property)) : memberOf(object, key);
  }

  #entry(property: NodeOf<"ObjectExpression">["properties"][number]): ObjectEntry {
    if (property.type === "SpreadElement") return { key: undefined, value: this.evaluate(property.argument) };
    if (property.kind !== "init") throw new UnknownConstruct("accessor");
    const key = property.computed ? findString(property.key, this.#parts.scopes) : staticKey(property);
    const value = this.evaluate(property.value);
    return key === undefined
      ? { key: undefined, value: operation("computed", this.evaluate(property.key), value) }
      : { key, value };
  }

  element(element: Node): Term {
    return element.type === "SpreadElement"
      ? operation("spread", this.evaluate(element.argument))
      : this.evaluate(element);
  }

  #unary(operator: string, argument: Node): Term {
    const term = this.evaluate(argument);
    if (operator === "-" && term.kind === "literal" && typeof term.value === "number")
      return { ...term, value: -term.value, origin: argument.parent ?? argument };
    return operator === "void" ? UNDEFINED : operation(operator, term);
  }

  #binary({ operator, left, right }: NodeOf<"BinaryExpression">): Term {
    const first = this.evaluate(left);
    const second = this.evaluate(right);
    if (operator !== "+") return operation(operator, first, second);
    return isText(first) || isText(second)
      ? concatenation([asText(first, left), asText(second, right)])
      : operation("+", first, second);
  }

  #logical(operator: string, left: Term, right: Node): Term {
    let value: Term = UNDEFINED;
    const effects = this.#trace.capture(() => (value = this.evaluate(right)));
    // A parameter with a default is a parameter.
    const isDefault = left.kind === "hole" && left.list === undefined && operator !== "&&";
    if (isDefault && effects.length === 0) return left;
    if (effects.length > 0) this.#branch(operator, left, [effects]);
    return operation(operator, left, value);
  }

  #conditional(test: Node, consequent: Node, alternate: Node): Term {
    const condition = this.evaluate(test);
    const values: Term[] = [];
    const arms = [consequent, alternate].map((arm) => this.#trace.capture(() => values.push(this.evaluate(arm))));
    if (arms.some(({ length }) => length > 0)) this.#branch("if", condition, arms);
    return operation("?:", condition, ...values);
  }

  #assignment({ operator, left, right }: NodeOf<"AssignmentExpression">): Term {
    if (operator === "=") {
      const value = this.evaluate(right);
      this.#assign(left, value);
      return value;
    }
    if (left.type !== "Identifier") throw new UnknownConstruct(operator);
    const current = this.#name(left);
    const name = operator.slice(0, -1);
    const value =
      name === "&&" || name === "||" || name === "??"
        ? this.#logical(name, current, right)
        : operation(name, current, this.evaluate(right));
    this.#assign(left, value);
    return value;
  }

  #update(argument: Node, operator: string): Term {
    if (argument.type !== "Identifier") throw new UnknownConstruct(operator);
    const value = operation(operator === "++" ? "+" : "-", this.#name(argument), operation("one"));
    this.#assign(argument, value);
    return value;
  }

  #new({ callee, arguments: given }: NodeOf<"NewExpression">): Term {
    const name = callee.type === "Identifier" && bindingOf(callee) === undefined ? callee.name : undefined;
    if (name === undefined || !CONSTRUCTORS.has(name)) throw new UnknownConstruct("new");
    return operation(`new ${name}`, ...given.map((each) => this.element(each)));
  }

  // Functions

  /** Evaluates a callback for its value; one with effects is known only where it is called. */
  #lambda(fn: FunctionNode): Term {
    let value: Term = UNDEFINED;
    const effects = this.#trace.deeper(() => this.#trace.capture(() => (value = this.apply(fn, this.#items(fn)))));
    if (effects.length > 0) throw new UnknownConstruct("function as a value");
    return { kind: "lambda", value };
  }

  #items(fn: FunctionNode): Term[] {
    return fn.params.map((_, index) => ({ kind: "item", depth: this.#trace.depth, index }));
  }

  /** Binds the parameters and runs the body; the value is that of its last return. */
  apply(fn: FunctionNode, given: readonly Term[]): Term {
    if (fn.generator || this.#inlining.includes(fn) || this.#inlining.length > MOST_INLINED)
      throw new UnknownConstruct("recursion");
    this.#inlining.push(fn);
    fn.params.forEach((parameter, index) => this.#assign(parameter, given[index] ?? UNDEFINED));
    const value = this.#body(fn);
    this.#inlining.pop();
    return value;
  }

  #body({ body }: FunctionNode): Term {
    if (body === null) return UNDEFINED;
    if (body.type !== "BlockStatement") return this.evaluate(body);
    return this.#valueOf(body.body);
  }

  /** The value that statements return; one that returns in a branch runs the others in the other branch. */
  #valueOf(statements: readonly Node[]): Term {
    for (const [index, statement] of statements.entries()) {
      if (statement.type === "ReturnStatement")
        return statement.argument === null ? UNDEFINED : this.evaluate(statement.argument);
      if (!hasReturn(statement)) this.#execute(statement);
      else if (statement.type === "IfStatement") return this.#valueOfIf(statement, statements.slice(index + 1));
      else throw new UnknownConstruct("return inside a statement");
    }
    return UNDEFINED;
  }

  #valueOfIf({ test, consequent, alternate }: NodeOf<"IfStatement">, rest: readonly Node[]): Term {
    const condition = this.evaluate(test);
    const values: Term[] = [];
    const arms = [consequent, alternate].map((arm) =>
      this.#trace.capture(() => values.push(this.#valueOf([...(arm === null ? [] : statementsOf(arm)), ...rest]))),
    );
    if (arms.some(({ length }) => length > 0)) this.#branch("if", condition, arms);
    return operation("?:", condition, ...values);
  }
}

import type { Comment } from "oxc-parser";
import { stripEnum } from "./strip-enum.ts";
import { type ByType, type Entering, type Node, type NodeOf, type TreeVisitor, type Wrapper } from "./syntax-tree.ts";
import type { TextEdits } from "./text-edits.ts";

type Range = { readonly start: number; readonly end: number };
type ClassMember = NodeOf<"MethodDefinition" | "PropertyDefinition">;

const MODIFIER = /\b(?:public|private|protected|readonly|override|abstract|declare)\b/g;

/** Removes the types from a program; the rest keeps its position. */
export class TypeStripper implements TreeVisitor {
  readonly #text: string;
  readonly #edits: TextEdits;
  /** Ends of statements without a semicolon: removing a type there must not join the statement with the next line. */
  readonly #openEnds = new Set<number>();
  readonly #removed: Range[] = [];

  constructor(text: string, comments: readonly Comment[], edits: TextEdits) {
    this.#text = blankComments(text, comments);
    this.#edits = edits;
  }

  unwrap(wrapper: Wrapper): void {
    const { expression } = wrapper;
    if (wrapper.type === "ParenthesizedExpression") return;
    if (wrapper.type === "TSTypeAssertion") {
      this.#edits.replace(wrapper.start, expression.start, "(");
      this.#edits.wrap(wrapper, "", ")");
    } else this.#remove(expression.end, wrapper.end);
  }

  typeOnly(node: Node): void {
    this.#edits.replace(node.start, node.end, ";");
  }

  /** Applies the removals; call it after the last node. */
  finish(): void {
    for (const { start, end } of this.#removed) this.#edits.replace(start, end, this.#openEnds.has(end) ? ";" : " ");
  }

  enter(type: Node["type"]): Entering | undefined {
    return this.#entering[type] as Entering | undefined;
  }

  readonly #entering: ByType<readonly [], void> = {
    Identifier: (node) => this.#pattern(node),
    ObjectPattern: (node) => this.#pattern(node),
    ArrayPattern: (node) => this.#pattern(node),
    RestElement: (node) => this.#annotation(node.typeAnnotation),
    FunctionDeclaration: (node) => this.#function(node),
    FunctionExpression: (node) => this.#function(node),
    ArrowFunctionExpression: (node) => this.#arrow(node),
    CallExpression: (node) => this.#annotation(node.typeArguments),
    NewExpression: (node) => this.#annotation(node.typeArguments),
    TaggedTemplateExpression: (node) => this.#annotation(node.typeArguments),
    ClassDeclaration: (node) => this.#class(node),
    ClassExpression: (node) => this.#class(node),
    MethodDefinition: (node) => this.#member(node),
    PropertyDefinition: (node) => this.#field(node),
    TSParameterProperty: (node) => this.#remove(node.start, node.parameter.start),
    TSEnumDeclaration: (node) => stripEnum(node, this.#edits),
    VariableDeclaration: (node) => node.parent?.type.startsWith("For") !== true && this.#openEnd(node),
    ExpressionStatement: (node) => this.#openEnd(node),
    ReturnStatement: (node) => this.#openEnd(node),
    ThrowStatement: (node) => this.#openEnd(node),
  };

  /** Records a statement or field that ends without a semicolon. */
  #openEnd({ end }: Range): void {
    if (this.#text[end - 1] !== ";") this.#openEnds.add(end);
  }

  #remove(start: number, end: number): void {
    if (end > start) this.#removed.push({ start, end });
  }

  #annotation(node: Range | null | undefined): void {
    if (node !== null && node !== undefined) this.#remove(node.start, node.end);
  }

  /** Removes the types of `name?: Type`, `name!: Type`, `{ … }?: Type`. */
  #pattern({ typeAnnotation, optional, end }: NodeOf<"Identifier" | "ObjectPattern" | "ArrayPattern">): void {
    const from = typeAnnotation?.start ?? end;
    if (from === end && !(optional as boolean)) return;
    let mark = from - 1;
    while (/\s/.test(this.#text[mark] ?? "")) mark -= 1;
    this.#remove(/[?!]/.test(this.#text[mark] ?? "") ? mark : from, end);
  }

  #function(node: NodeOf<"FunctionDeclaration">): void {
    this.#annotation(node.typeParameters);
    this.#annotation(node.returnType);
    const [first, second] = node.params;
    if (first?.type === "Identifier" && first.name === "this") {
      this.#remove(first.start, second?.start ?? this.#text.indexOf(")", first.end));
    }
    if (node.parent?.type === "MethodDefinition" && node.parent.kind === "constructor") this.#parameterProperties(node);
  }

  #arrow(node: NodeOf<"ArrowFunctionExpression">): void {
    const { typeParameters, returnType } = node;
    if (typeParameters !== null && typeParameters !== undefined) {
      // `async` and `(` must stay on one line.
      const bracket = this.#text.indexOf("(", typeParameters.end);
      this.#edits.replace(typeParameters.start, bracket + 1, "(");
    }
    if (returnType !== null && returnType !== undefined) {
      // `)` and `=>` must stay on one line.
      const bracket = this.#text.lastIndexOf(")", returnType.start);
      this.#edits.replace(bracket, returnType.end, ")");
    }
  }

  #class(node: NodeOf<"ClassDeclaration">): void {
    this.#annotation(node.typeParameters);
    this.#annotation(node.superTypeArguments);
    if (node.abstract === true) this.#edits.replace(node.start, node.start + "abstract".length);
    const first = node.implements?.[0];
    if (first === undefined) return;
    this.#remove(this.#text.lastIndexOf("implements", first.start), node.body.start);
  }

  #member(node: ClassMember): void {
    const head = this.#text.slice(node.start, node.key.start);
    for (const { index, 0: word } of head.matchAll(MODIFIER)) {
      // Without its first word a member could continue the field before it.
      const at = node.start + index;
      this.#edits.replace(at, at + word.length, index === 0 ? ";" : " ");
    }
    if (node.optional === true) this.#mark(node, "?");
  }

  #field(node: NodeOf<"PropertyDefinition">): void {
    this.#openEnd(node);
    this.#member(node);
    if (node.definite === true) this.#mark(node, "!");
    this.#annotation(node.typeAnnotation);
  }

  #mark({ key }: ClassMember, mark: string): void {
    const at = this.#text.indexOf(mark, key.end);
    this.#edits.replace(at, at + 1);
  }

  #parameterProperties(node: NodeOf<"FunctionDeclaration">): void {
    const names = node.params.flatMap((parameter) =>
      parameter.type === "TSParameterProperty" ? nameOf(parameter) : [],
    );
    if (names.length === 0 || node.body === null) return;
    const assignments = names.map((name) => `this.${name}=${name};`).join("");
    const call = node.body.body.find(isSuperCall);
    if (call === undefined) this.#edits.insert(node.body.start + 1, assignments);
    else this.#edits.wrap(call, "", `;${assignments}`);
  }
}

function nameOf({ parameter }: NodeOf<"TSParameterProperty">): string[] {
  const target = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
  return target.type === "Identifier" ? [target.name] : [];
}

function isSuperCall(statement: Node): boolean {
  if (statement.type !== "ExpressionStatement") return false;
  const { expression } = statement;
  return expression.type === "CallExpression" && expression.callee.type === "Super";
}

/** Replaces comments with spaces, so that searches do not find text inside them. */
function blankComments(text: string, comments: readonly Comment[]): string {
  if (comments.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of comments) {
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, " "));
    from = end;
  }
  return parts.join("") + text.slice(from);
}

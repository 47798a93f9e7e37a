import type { TSSignature, TSType } from "oxc-parser";
import type { Node, TreeVisitor, Wrapper } from "./syntax-tree.ts";

/** The types a program states are too large when they are written out. */
export class TypesTooLarge extends Error {}

/** Collects the types a program states, for the inference of parameters. */
export class TypeNotes implements TreeVisitor {
  /** `args.path as string`, by the expression without the type. */
  readonly assertions = new Map<Node, TSType>();
  /** The type in `declare const args: { … }`. */
  declaredArgs: TSType | undefined;
  readonly #declared = new Map<string, Node>();
  #left: number;

  /** @param maxBytes Size of all schemas that are made of the types. */
  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  /** Counts a part of a schema: named types can mention each other so that a short program states a vast one. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new TypesTooLarge();
  }

  unwrap(wrapper: Wrapper, inner: Node): void {
    if (wrapper.type === "ParenthesizedExpression" || !("typeAnnotation" in wrapper)) return;
    this.assertions.set(inner, wrapper.typeAnnotation);
  }

  typeOnly(node: Node): void {
    if (node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration") {
      this.#declared.set(node.id.name, node);
    }
    if (node.type !== "VariableDeclaration") return;
    const declared = node.declarations.find(({ id }) => id.type === "Identifier" && id.name === "args");
    this.declaredArgs ??= declared?.id.typeAnnotation?.typeAnnotation;
  }

  /** Returns the type behind an alias, or the members of an interface. */
  resolve(name: string): TSType | readonly TSSignature[] | undefined {
    const node = this.#declared.get(name);
    if (node?.type === "TSTypeAliasDeclaration") return node.typeAnnotation;
    return node?.type === "TSInterfaceDeclaration" ? node.body.body : undefined;
  }
}

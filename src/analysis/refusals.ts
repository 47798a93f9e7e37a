import type { Problem } from "./problem.ts";
import { type ByType, type Entering, isFunction, type Node, type TreeVisitor } from "./syntax-tree.ts";

/** Names of what the analysis writes into programs. */
const RESERVED = "__pml";

const MODULES = "Programs are no modules: `import` and `export` do not exist here";
const NO_IMPORTS =
  "Call tools with `await mcp.<server>.<tool>({ … })` and capabilities with `await capabilities.<name>({ … })`.";
const NO_EXPORTS = "Submit the body of an async function: statements that end with `return`.";

type Refusal = Omit<Problem, "offset">;

/** Finds what is good TypeScript and still no program. */
export class Refusals implements TreeVisitor {
  #problem: Problem | undefined;

  enter(type: Node["type"]): Entering | undefined {
    const refuse = REFUSALS[type] as ((node: Node) => Refusal | undefined) | undefined;
    if (refuse === undefined) return undefined;
    return (node) => {
      const refusal = this.#problem === undefined ? refuse(node) : undefined;
      if (refusal !== undefined) this.#problem = { offset: node.start, ...refusal };
    };
  }

  /** The first in the source. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** A function that nobody calls is what the program should have been the body of. */
  checkBody(body: readonly Node[]): void {
    const [only, ...others] = body.filter(({ type }) => type !== "EmptyStatement");
    if (only?.type !== "ExpressionStatement" || others.length > 0 || !isFunction(only.expression)) return;
    this.#problem ??= {
      offset: only.start,
      message: "The program is one function that is never called",
      hint: "Submit the body of the function instead; its parameters are in `args`.",
    };
  }
}

const refuseImport = (): Refusal => ({ message: MODULES, hint: NO_IMPORTS });
const refuseExport = (): Refusal => ({ message: MODULES, hint: NO_EXPORTS });
const refuseDecorators = (node: { readonly decorators?: readonly unknown[] }): Refusal | undefined =>
  (node.decorators ?? []).length === 0
    ? undefined
    : { message: "Decorators are not supported", hint: "Call the decorating function yourself." };

const REFUSALS: ByType<readonly [], Refusal | undefined> = {
  ImportDeclaration: refuseImport,
  ImportExpression: refuseImport,
  TSImportEqualsDeclaration: refuseImport,
  MetaProperty: (node) => (node.meta.name === "import" ? refuseImport() : undefined),
  ExportDefaultDeclaration: refuseExport,
  ExportNamedDeclaration: refuseExport,
  ExportAllDeclaration: refuseExport,
  TSExportAssignment: refuseExport,
  TSNamespaceExportDeclaration: refuseExport,
  TSModuleDeclaration: () => ({ message: "Namespaces are not supported", hint: "Use an object instead." }),
  AccessorProperty: () => ({ message: "`accessor` is not supported", hint: "Use a getter and a setter." }),
  ClassDeclaration: refuseDecorators,
  ClassExpression: refuseDecorators,
  MethodDefinition: refuseDecorators,
  PropertyDefinition: refuseDecorators,
  Identifier: (node) =>
    node.name.startsWith(RESERVED) && isName(node)
      ? { message: `Names that start with ${RESERVED} are reserved`, hint: `Rename ${node.name}.` }
      : undefined,
};

/** Not a property, which may be called what it likes. */
function isName({ parent }: Node): boolean {
  if (!parent || parent.type === "MemberExpression") return parent?.type !== "MemberExpression" || parent.computed;
  return !("key" in parent) || ("shorthand" in parent && parent.shorthand);
}

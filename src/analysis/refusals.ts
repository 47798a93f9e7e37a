import type { ProgramProblem } from "./problem.ts";
import { type ByType, type Entering, isFunction, type Node, type TreeVisitor } from "./syntax-tree.ts";

/** Prefix of the names that the instrumentation inserts. */
const RESERVED = "__pml";

const MODULES = "Programs are not modules: `import` and `export` are not supported";
const NO_IMPORTS =
  "Call tools with `await mcp.<server>.<tool>({ … })` and capabilities with `await capabilities.<name>({ … })`.";
const NO_EXPORTS = "Submit the body of an async function: statements that end with `return`.";

type ProgramRefusal = Omit<ProgramProblem, "offset">;

/** Finds valid TypeScript that is not a valid program. */
export class Refusals implements TreeVisitor {
  #problem: ProgramProblem | undefined;

  enter(type: Node["type"]): Entering | undefined {
    const refuse = REFUSALS[type] as ((node: Node) => ProgramRefusal | undefined) | undefined;
    if (refuse === undefined) return undefined;
    return (node) => {
      const refusal = this.#problem === undefined ? refuse(node) : undefined;
      if (refusal !== undefined) this.#problem = { offset: node.start, ...refusal };
    };
  }

  /** The first problem in source order. */
  get problem(): ProgramProblem | undefined {
    return this.#problem;
  }

  /** Refuses a program that only consists of an uncalled function: its body should have been submitted. */
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

const refuseImport = (): ProgramRefusal => ({ message: MODULES, hint: NO_IMPORTS });
const refuseExport = (): ProgramRefusal => ({ message: MODULES, hint: NO_EXPORTS });
const refuseDecorators = (node: { readonly decorators?: readonly unknown[] }): ProgramRefusal | undefined =>
  (node.decorators ?? []).length === 0
    ? undefined
    : { message: "Decorators are not supported", hint: "Call the decorating function yourself." };

const REFUSALS: ByType<readonly [], ProgramRefusal | undefined> = {
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

/** False for a property, which may have any name. */
function isName({ parent }: Node): boolean {
  if (!parent || parent.type === "MemberExpression") return parent?.type !== "MemberExpression" || parent.computed;
  return !("key" in parent) || ("shorthand" in parent && parent.shorthand);
}

import type { Comment } from "oxc-parser";
import { SHORTEST_SECRET_TEXT } from "../secrets/secret-words.ts";
import { WRAPPER_START } from "./source-text.ts";
import type { LiteralRange } from "./structure.ts";
import type { Entering, Node, TreeVisitor } from "./syntax-tree.ts";

/** Collects the texts of a program that are not code: strings, pieces of templates, comments. */
export class Literals implements TreeVisitor {
  readonly #ranges: LiteralRange[] = [];

  constructor(comments: readonly Comment[]) {
    for (const { type, start, end } of comments) this.#add(start + 2, type === "Block" ? end - 2 : end, "comment");
  }

  /** In the order of the program. */
  get ranges(): readonly LiteralRange[] {
    return this.#ranges.toSorted(([one], [other]) => one - other);
  }

  enter(type: Node["type"]): Entering | undefined {
    if (type !== "Literal" && type !== "TemplateElement") return undefined;
    return (node) => {
      if (node.type === "Literal" && typeof node.value === "string") this.#add(node.start + 1, node.end - 1);
      // The range of a piece has its delimiters: a backtick or a brace before, a backtick or `${` behind.
      if (node.type === "TemplateElement") this.#add(node.start + 1, node.end - (node.tail ? 1 : 2));
    };
  }

  #add(from: number, to: number, kind?: "comment"): void {
    const [start, end] = [from - WRAPPER_START.length, to - WRAPPER_START.length];
    if (end - start >= SHORTEST_SECRET_TEXT) this.#ranges.push(kind === undefined ? [start, end] : [start, end, kind]);
  }
}

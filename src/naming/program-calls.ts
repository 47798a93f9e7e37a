import type { ArgumentsStructure, StaticStructure } from "../analysis/structure.ts";
import { parseToolId } from "../catalogue/tool-id.ts";
import type { Nameable, ToolNote } from "./nameable.ts";
import { readToolName, type ToolWords } from "./tool-words.ts";

/** A call of a tool in a program. */
export interface ProgramCall {
  readonly words: ToolWords;
  readonly note: ToolNote | undefined;
  readonly arguments: ArgumentsStructure;
  /** It is in a loop. */
  readonly repeated: boolean;
}

/** The calls of a program in the order of its text. */
export function readCalls({
  tools,
  code,
  structure,
  definitions = [],
}: Pick<Nameable, "tools" | "code" | "structure" | "definitions">): ProgramCall[] {
  const noteOf = (id: string): ToolNote | undefined => definitions.find((each) => each.id === id);
  const found = structure === undefined ? [] : readStructure(structure, noteOf);
  if (found.length > 0) return found;
  const at = (tool: string): number => code.indexOf(parseToolId(tool).tool);
  return tools
    .toSorted((a, b) => at(a) - at(b))
    .map((id) => ({ words: readToolName(id, noteOf(id)), note: noteOf(id), arguments: {}, repeated: false }));
}

function readStructure({ nodes, edges }: StaticStructure, noteOf: (id: string) => ToolNote | undefined): ProgramCall[] {
  const loops = new Set(nodes.flatMap((node) => (node.type === "loop" ? [node.id] : [])));
  const repeated = new Set(edges.flatMap(({ type, from, to }) => (type === "contains" && loops.has(from) ? [to] : [])));
  return nodes.flatMap((node) => {
    if (node.type !== "task") return [];
    const note = noteOf(node.tool);
    const words = readToolName(node.tool, note);
    return [{ words, note, arguments: node.arguments ?? {}, repeated: repeated.has(node.id) }];
  });
}

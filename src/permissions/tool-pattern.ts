import { findToolId, foldServer, type ToolRef } from "../catalogue/tool-id.ts";

/** `server:tool` with `*` for any characters. A pattern without a colon matches every tool of the server. */
export interface ToolPattern {
  readonly text: string;
  matches(toolId: string): boolean;
  /** A more literal pattern wins if only one can apply. */
  readonly specificity: number;
}

/** Without two underscores: `github__delete` is meant as a tool, and would match none. */
const SERVER_PART = /^(?!.*__)[A-Za-z0-9*][A-Za-z0-9*_. -]*$/;

/** Describes the problem of a pattern that could never match; undefined if there is none. */
export function checkPattern(text: string): string | undefined {
  const { server, tool } = splitToolId(text);
  if (!SERVER_PART.test(server)) return `"${text}" names no server: write server:tool, server:* or *`;
  return tool === "" ? `"${text}" names no tool: write ${server}:* for all of them` : undefined;
}

export function createPattern(text: string): ToolPattern {
  const { server, tool } = splitToolId(text);
  const folded = foldServer(server);
  return {
    text,
    matches(toolId) {
      const id = splitToolId(toolId);
      // `github:*` means the server that somebody called GitHub
      return matchesPart(folded, foldServer(id.server)) && matchesPart(tool, id.tool);
    },
    specificity: weigh(server) + weigh(tool),
  };
}

/** A bare server name stands for all of its tools. */
function splitToolId(id: string): Pick<ToolRef, "server" | "tool"> {
  return findToolId(id) ?? { server: id, tool: "*" };
}

/** Matches each piece at its first occurrence, which takes linear time for any pattern. */
function matchesPart(part: string, name: string): boolean {
  const [first = "", ...pieces] = part.split(/\*+/);
  const last = pieces.pop();
  if (last === undefined) return name === part;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const piece of pieces) {
    const at = name.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}

/** A part without wildcards outweighs any part with one. */
function weigh(part: string): number {
  return part.includes("*") ? part.replaceAll("*", "").length : 1_000 + part.length;
}

import type { Surface } from "./surface.ts";
import { explainName } from "./wire-names.ts";

/** How the names that clients get came about, where that is not plain to see. */
export interface NameReport {
  /** Tools of servers that can be called. */
  readonly offered: number;
  readonly hidden: readonly { readonly tool: string; readonly reason: string }[];
  /** Tools whose listed name is not just their own with other punctuation. */
  readonly renamed: readonly { readonly tool: string; readonly name: string; readonly reason: string }[];
}

export function reportNames(surface: Surface): NameReport {
  const { tools, withheld } = surface;
  const renamed = tools.flatMap(({ server, id, name, wireName }) => {
    const reason = explainName({ server, tool: name }, wireName);
    return reason === undefined ? [] : [{ tool: id, name: wireName, reason }];
  });
  const hidden = withheld.map(({ id, reason }) => ({ tool: id, reason }));
  return { offered: tools.length, hidden, renamed };
}

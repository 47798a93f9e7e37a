import type { Surface } from "./surface.ts";
import { explainName } from "./wire-names.ts";

/** Explains the names that clients get, where punctuation alone does not. */
export interface NameReport {
  /** The number of callable tools of servers. */
  readonly offered: number;
  readonly hidden: readonly { readonly tool: string; readonly reason: string }[];
  /** Tools whose listed name differs from their own by more than punctuation. */
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

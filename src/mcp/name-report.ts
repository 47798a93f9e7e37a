import { CANONICAL_NAME_KEY, type Surface } from "./surface.ts";
import { explainName } from "./wire-names.ts";

/** How the names that clients get came about, where that is not plain to see. */
export interface NameReport {
  readonly listed: number;
  readonly hidden: readonly { readonly tool: string; readonly reason: string }[];
  /** Tools whose listed name is not just their own with other punctuation. */
  readonly renamed: readonly { readonly tool: string; readonly name: string; readonly reason: string }[];
}

export function reportNames(surface: Surface): NameReport {
  const { tools, hidden } = surface;
  const renamed = tools.flatMap(({ name, _meta }) => {
    const canonical = _meta?.[CANONICAL_NAME_KEY];
    if (typeof canonical !== "string" || canonical === name) return [];
    const target = surface.splitCanonical(canonical);
    const reason = explainName({ server: target.server, tool: target.name }, name);
    return reason === undefined ? [] : [{ tool: canonical, name, reason }];
  });
  return { listed: tools.length, hidden, renamed };
}

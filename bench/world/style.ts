import type { Random } from "../../test/support/random.ts";

/** Where a program has its values: in its text, or in `args`. */
export const MODES = ["literal", "args"] as const;
export type Mode = (typeof MODES)[number];

/** The habits of one author; the rest varies from line to line. */
export interface Style {
  readonly quote: string;
  /** How a tool is reached. */
  readonly access: "direct" | "brackets" | "alias" | "destructured";
  /** How a value is written where it is used. */
  readonly values: "inline" | "constants" | "object";
  readonly texts: "template" | "concatenation";
  /** Calls go through functions of the program. */
  readonly helpers: "none" | "arrow" | "function";
  /** `if (!test) return;` in place of a block around the rest. */
  readonly guards: boolean;
  readonly commentPercent: number;
  readonly logPercent: number;
}

const HELPER_PERCENT = 20;
const GUARD_PERCENT = 15;

export function drawStyle(random: Random): Style {
  return {
    quote: random.pick(['"', '"', "'", "`"]),
    access: random.pick(["direct", "direct", "brackets", "alias", "destructured"] as const),
    values: random.pick(["inline", "constants", "object"] as const),
    texts: random.pick(["template", "concatenation"] as const),
    helpers: random.chance(HELPER_PERCENT) ? random.pick(["arrow", "function"] as const) : "none",
    guards: random.chance(GUARD_PERCENT),
    commentPercent: random.pick([0, 0, 30]),
    logPercent: random.pick([0, 0, 25]),
  };
}

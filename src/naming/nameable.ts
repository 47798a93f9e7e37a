import type { StaticStructure } from "../analysis/structure.ts";
import type { JsonSchema } from "../base/json.ts";

/** Input for a name. */
export interface Nameable {
  readonly id: string;
  readonly currentName: string;
  /** Intents of its runs, most frequent first. */
  readonly intents: readonly string[];
  readonly code: string;
  readonly tools: readonly string[];
  readonly parameters: readonly string[];
  /** Its calls, loops and conditions; left out where only the text is known. */
  readonly structure?: StaticStructure;
  /** Definitions of its tools, as far as they are known. */
  readonly definitions?: readonly ToolNote[];
  /** Texts in the arguments of its runs. Their words are never part of a name. */
  readonly values?: readonly string[];
}

/** The parts of a tool's definition that say what it does. */
export interface ToolNote {
  readonly id: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  readonly readOnly?: boolean | undefined;
}

import type { DagStructure } from "../registry/capability.ts";
import type { Naming, Resolved } from "../registry/registry.ts";
import type { JsonObject } from "../base/json.ts";
import type { RunOptions } from "./run-store.ts";

/** A request to run something, after its form was checked. */
export type RunRequest = {
  readonly intent: string;
  readonly options: RunOptions & { readonly dryRun?: boolean };
} & (
  | ({ readonly kind: "code"; readonly code: string; readonly args: JsonObject } & NewProgram)
  | ({ readonly kind: "dag"; readonly dag: DagStructure; readonly args: JsonObject } & NewProgram)
  /** By name, or as its name was resolved already. */
  | { readonly kind: "capability"; readonly capability: string | Resolved; readonly args: JsonObject }
  /** One tool as a capability that is always called with `defaults`. */
  | ({
      readonly kind: "tool";
      readonly tool: string;
      readonly defaults: JsonObject;
      readonly args: JsonObject;
    } & NewProgram)
);

/** Facts about a program that may be new. */
export interface NewProgram {
  /** The name it gets once it has succeeded. */
  readonly naming?: Naming;
  readonly description?: string;
  readonly tags?: readonly string[];
}

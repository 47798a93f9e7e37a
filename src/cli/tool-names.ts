import type { Tool } from "@modelcontextprotocol/client";

/** A tool as the daemon describes it, whether or not clients are shown it. */
export interface KnownTool extends Tool {
  /** `server:tool`. */
  readonly id: string;
  readonly listed: boolean;
}

/** `server:tool`, which the gateway puts beside the name it lists. */
export function readCanonicalName({ name, _meta }: Tool): string {
  const canonical = _meta?.["dev.pml/canonicalName"];
  return typeof canonical === "string" ? canonical : name;
}

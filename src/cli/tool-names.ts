import type { Tool } from "@modelcontextprotocol/client";

/** Reads `server:tool`, which the gateway puts beside the listed name. */
export function readCanonicalName({ name, _meta }: Tool): string {
  const canonical = _meta?.["dev.pml/canonicalName"];
  return typeof canonical === "string" ? canonical : name;
}

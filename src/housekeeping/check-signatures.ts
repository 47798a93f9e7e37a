import { z } from "zod";
import type { Signing } from "../registry/signature.ts";
import { PmlError } from "../base/errors.ts";
import type { CheckRow } from "./import-memory.ts";

const versionRow = z.object({
  record_id: z.string(),
  version: z.number(),
  source_hash: z.string(),
  code_snippet: z.string().nullable(),
  source: z.unknown(),
  parameters_schema: z.unknown(),
  tools_used: z.array(z.string()),
  signature: z.string().nullable(),
});

type VersionRow = z.output<typeof versionRow>;

/** Refuses versions whose signature does not fit and, where only signed ones are wanted, all others too. */
export function checkSignatures(signing: Signing, required: boolean): CheckRow {
  return (table, text) => {
    if (table !== "capability_versions") return;
    checkVersion(signing, required, versionRow.parse(JSON.parse(text)));
  };
}

/** The same for one version. */
export function checkVersion(signing: Signing, required: boolean, row: VersionRow): void {
  const state = signing.verify(
    {
      sourceHash: row.source_hash,
      text: row.code_snippet ?? undefined,
      source: row.source ?? undefined,
      parameters: row.parameters_schema ?? undefined,
      toolsUsed: row.tools_used,
    },
    row.signature ?? undefined,
  );
  if (!required || state === "trusted") return;
  const reason = state === "unsigned" ? "it has no signature" : "its signature is by a key that is not trusted here";
  throw new PmlError(
    "signature_invalid",
    `Version ${row.version} of the record ${row.record_id} is refused: ${reason}`,
    {
      hint: "Add the public key of whoever signed it to `signing.trustedKeys`, or set `signing.required` to false.",
    },
  );
}

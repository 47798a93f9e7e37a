import { z } from "zod";
import type { Signing } from "../registry/signature.ts";
import { PmlError } from "../base/errors.ts";
import { invalidExport } from "./export-format.ts";
import type { CheckRow } from "./verify-export.ts";

const versionRow = z.object({
  record_id: z.string(),
  version: z.number(),
  source_hash: z.string(),
  code_snippet: z.string().nullable(),
  source: z.unknown().optional(),
  parameters_schema: z.unknown().optional(),
  tools_used: z.array(z.string()),
  signature: z.string().nullable(),
});

type VersionRow = z.output<typeof versionRow>;

/** Refuses versions with an invalid signature and, if `required`, unsigned ones. */
export function checkSignatures(signing: Signing, required: boolean): CheckRow {
  return (table, row) => {
    if (table !== "capability_versions") return;
    const parsed = versionRow.safeParse(row);
    if (!parsed.success) throw invalidExport("a version lacks what its signature covers", parsed.error);
    checkVersion(signing, required, parsed.data);
  };
}

/** Applies the same check to one version. */
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
      hint: "Add the public key of its signer to `signing.trustedKeys`, or set `signing.required` to false.",
    },
  );
}

import { PmlError } from "../base/errors.ts";
import { parseFqdn } from "../registry/fqdn.ts";
import type { Published } from "../registry/published.ts";
import type { ChangeOutcome, Registry } from "../registry/registry.ts";
import type { Asker } from "../registry/scope.ts";
import type { Signing } from "../registry/signature.ts";
import { checkVersion } from "./check-signatures.ts";

export interface AdoptParts {
  readonly registry: Pick<Registry, "save">;
  readonly asker: Asker;
  readonly signing: Signing;
  /** Accepts only versions that a trusted key signed. */
  readonly signatureRequired: boolean;
}

/**
 * Copies a capability that another gateway published: its text, name, description, tags and version tag. Everything
 * else is computed from the text. It is listed after its first success here, like any new program.
 */
export function createAdopt({ registry, asker, signing, signatureRequired }: AdoptParts) {
  return async (published: Published, name: string = published.display_name): Promise<ChangeOutcome> => {
    const { code, description, tags, fqdn, version, version_tag: versionTag } = published;
    if (parseFqdn(fqdn) === undefined)
      throw new PmlError("arguments_invalid", `${JSON.stringify(fqdn)} is no FQDN of a capability`, {
        hint: "Give the address of a capability: https://…/registry/capabilities/<fqdn>",
      });
    checkVersion(signing, signatureRequired, {
      record_id: fqdn,
      version,
      source_hash: published.source_hash,
      code_snippet: code,
      source: undefined,
      parameters_schema: published.parameters_schema,
      tools_used: published.tools_used,
      signature: published.signature,
    });
    return registry.save(asker, {
      name,
      code,
      tags,
      forkedFrom: fqdn,
      changeSummary: `Copied from ${fqdn}, version ${version}`,
      ...(description === null ? {} : { description }),
      ...(versionTag === null ? {} : { versionTag }),
    });
  };
}

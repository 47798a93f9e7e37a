import { readFileSync } from "node:fs";
import { createSigning, type Signing } from "../registry/signature.ts";
import type { Config } from "../config/load-config.ts";
import { PmlError } from "../base/errors.ts";

/** The configured keys. One that cannot be read is an error: versions would silently go unsigned. */
export function openSigning({ signing }: Pick<Config, "signing">): Signing {
  const { keyFile, trustedKeys } = signing;
  return createSigning({
    ...(keyFile === undefined ? {} : { privateKey: readKeyFile(keyFile) }),
    trusted: trustedKeys.map(readKeyFile),
  });
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("config_invalid", `A key of \`signing\` cannot be read: ${reason}`, {
      hint: "Make one: openssl genpkey -algorithm ed25519 -out signing.pem",
      cause,
    });
  }
}

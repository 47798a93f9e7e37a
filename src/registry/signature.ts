import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { contentHash } from "../base/content-hash.ts";
import { PmlError } from "../base/errors.ts";

/** Content of a version that its signature covers; without the name, so copies keep the signature. */
export interface SignedVersion {
  /** Hash of the normalised source. */
  readonly sourceHash: string;
  /** Text of a program or a `server.json`. */
  readonly text: string | undefined;
  /** The source if it is not text. */
  readonly source: unknown;
  readonly parameters: unknown;
  readonly toolsUsed: readonly string[];
}

type SignatureState =
  /** Signed with a trusted key. */
  | "trusted"
  /** Signed with a key that is not in the configuration. */
  | "unknown_key"
  /** Carries only the hash of the source. */
  | "unsigned";

/** Signs versions and verifies signatures. */
export interface Signing {
  /** Returns `sha256:` and the hash of the normalised source, followed by the signature if there is a key. */
  sign(version: SignedVersion): string;
  /** Throws `signature_invalid` if the signature does not match. */
  verify(version: SignedVersion, signature: string | undefined): SignatureState;
}

export interface SigningKeys {
  /** Ed25519, PEM. Without it, versions carry only the hash of their source. */
  readonly privateKey?: string;
  /** Ed25519, PEM. The public half of `privateKey` is trusted without being listed. */
  readonly trusted: readonly string[];
}

export const NO_SIGNING: Signing = createSigning({ trusted: [] });

export function createSigning({ privateKey, trusted }: SigningKeys): Signing {
  const own = privateKey === undefined ? undefined : readKey(createPrivateKey, privateKey);
  const known = new Map(
    [
      ...trusted.map((text) => readKey(createPublicKey, text)),
      ...(own === undefined ? [] : [createPublicKey(own)]),
    ].map((key) => [keyId(key), key]),
  );
  return {
    sign(version) {
      const hash = `sha256:${version.sourceHash}`;
      if (own === undefined) return hash;
      const signature = sign(null, payload(version), own).toString("base64url");
      return `${hash};ed25519:${keyId(createPublicKey(own))}:${signature}`;
    },
    verify: (version, signature) => verifyVersion(known, version, signature),
  };
}

const SIGNATURE = /^sha256:([0-9a-f]{64})(?:;ed25519:([0-9a-f]{16}):([\w-]{86}))?$/;

function verifyVersion(
  known: ReadonlyMap<string, KeyObject>,
  version: SignedVersion,
  signature: string | undefined,
): SignatureState {
  if (signature === undefined) return "unsigned";
  const [whole, hash, id, bytes] = SIGNATURE.exec(signature) ?? [];
  if (whole === undefined) throw invalid(version, "its signature has an unknown format");
  if (hash !== version.sourceHash) throw invalid(version, "its signature belongs to another source");
  if (id === undefined || bytes === undefined) return "unsigned";
  const key = known.get(id);
  if (key === undefined) return "unknown_key";
  if (!verify(null, payload(version), key, Buffer.from(bytes, "base64url")))
    throw invalid(version, `its content changed after the key ${id} signed it`);
  return "trusted";
}

function payload({ sourceHash, text, source, parameters, toolsUsed }: SignedVersion): Buffer {
  const content = { sourceHash, text, source, parameters, toolsUsed };
  // Signs what is stored, which is JSON: a default of `1e999` is null there.
  return Buffer.from(`pml-version-1 ${contentHash(JSON.parse(JSON.stringify(content)))}`);
}

function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, 16);
}

function readKey(read: (text: string) => KeyObject, text: string): KeyObject {
  let key: KeyObject;
  try {
    key = read(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("config_invalid", `A key of \`signing\` cannot be read: ${reason}`, { hint: MAKE_KEYS, cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  const kind = key.asymmetricKeyType ?? "unknown";
  throw new PmlError("config_invalid", `A key of \`signing\` is ${kind}, not Ed25519`, { hint: MAKE_KEYS });
}

const MAKE_KEYS = "Make one: openssl genpkey -algorithm ed25519 -out signing.pem";

function invalid({ sourceHash }: SignedVersion, reason: string): PmlError {
  return new PmlError(
    "signature_invalid",
    `The version with the source ${sourceHash} is not what was signed: ${reason}`,
    {
      hint: "Get it again from its publisher; do not import this copy.",
    },
  );
}

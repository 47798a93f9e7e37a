import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { contentHash } from "../base/content-hash.ts";
import { PmlError } from "../base/errors.ts";

/** All of a version that a signature vouches for: what it does, under whatever name. So copies keep it. */
export interface SignedVersion {
  /** Of the normalised source. */
  readonly sourceHash: string;
  /** The text of a program or of a `server.json`. */
  readonly text: string | undefined;
  /** Any other source. */
  readonly source: unknown;
  readonly parameters: unknown;
  readonly toolsUsed: readonly string[];
}

type SignatureState =
  /** By a key that is trusted here. */
  | "trusted"
  /** By a key that nobody here has said anything about. */
  | "unknown_key"
  /** Only the hash of the source. */
  | "unsigned";

/** What vouches for versions, and whose word counts. */
export interface Signing {
  /** `sha256:…` of the normalised source, followed by the signature where there is a key. */
  sign(version: SignedVersion): string;
  /** Throws `signature_invalid` where the signature does not fit. */
  verify(version: SignedVersion, signature: string | undefined): SignatureState;
}

export interface SigningKeys {
  /** Ed25519, PEM. Without one, versions carry the hash of their source alone. */
  readonly privateKey?: string;
  /** Ed25519, PEM; the public half of the private key counts without being listed. */
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
  if (whole === undefined) throw invalid(version, "its signature is of no known form");
  if (hash !== version.sourceHash) throw invalid(version, "its signature is that of another source");
  if (id === undefined || bytes === undefined) return "unsigned";
  const key = known.get(id);
  if (key === undefined) return "unknown_key";
  if (!verify(null, payload(version), key, Buffer.from(bytes, "base64url")))
    throw invalid(version, `what the key ${id} signed is not what it has now`);
  return "trusted";
}

function payload({ sourceHash, text, source, parameters, toolsUsed }: SignedVersion): Buffer {
  const content = { sourceHash, text, source, parameters, toolsUsed };
  return Buffer.from(`pml-version-1 ${contentHash(content)}`);
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
      hint: "Get it again from where it comes from; do not import this copy.",
    },
  );
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { PmlError } from "../base/errors.ts";

/** Encrypts secrets for storage that others may read. Opening needs the same key and context. */
export interface Seal {
  /** `context` binds the secret to its owner, so that it cannot replace another one. */
  seal(secret: string, context: readonly string[]): string;
  open(sealed: string, context: readonly string[]): string;
}

const ALGORITHM = "aes-256-gcm";
const VERSION = "1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSeal(key: Uint8Array): Seal {
  const keyId = createHash("sha256").update("pml key id").update(key).digest("hex").slice(0, 8);
  return {
    seal(secret, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(toBytes(context));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return [VERSION, keyId, Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64url")].join(".");
    },
    open(sealed, context) {
      const [version, sealedWith, data = ""] = sealed.split(".");
      if (version !== VERSION || sealedWith !== keyId) throw cannotOpen("it was sealed with another key");
      const bytes = Buffer.from(data, "base64url");
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(toBytes(context)).setAuthTag(tag);
        const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw cannotOpen("it was altered", cause);
      }
    },
  };
}

function toBytes(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context), "utf8");
}

function cannotOpen(reason: string, cause?: unknown): PmlError {
  return new PmlError("secret_unreadable", `A stored secret cannot be read: ${reason}`, {
    hint: "Use the key it was stored with (PML_SECRET_KEY, secrets.keyFile or $PML_HOME/secret.key), or log in again: pml login <server>",
    cause,
  });
}

import { randomBytes } from "node:crypto";

/** Without i, l, o and u, which are easily misread. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH = 10;

/** An id that can be read out and typed: `apr_7k2m9x4q1c`. Fifty random bits; it identifies, it does not authorise. */
export function newShortId(prefix: "apr" | "rul"): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return `${prefix}_${letters.join("")}`;
}

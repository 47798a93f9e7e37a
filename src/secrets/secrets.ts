import { createHmac, randomBytes } from "node:crypto";
import { createSeal, type Seal } from "./seal.ts";
import { isSearchable, replacePatterns } from "./secret-words.ts";
import { createFinder, holdsEncoded } from "./encodings.ts";
import type { ValueFinder } from "./value-finder.ts";

/** Newest values of one source; a token that was replaced stays valid for a while. */
const KEPT_PER_SOURCE = 64;
const DIGEST_LENGTH = 12;

/**
 * The secrets this gateway knows: of its configuration, of logins, its own keys. Everything that is stored or shown to
 * others passes here, or through the secrets of a run.
 */
export class Secrets {
  readonly #getKey: () => Uint8Array;
  readonly #bySource = new Map<string, readonly string[]>();
  #finder: ValueFinder | undefined;
  #seal: Seal | undefined;
  #key: Uint8Array | undefined;

  /** @param getKey resolves the key of placeholders and seals, at the first secret */
  constructor(getKey: () => Uint8Array = () => randomBytes(32)) {
    this.#getKey = getKey;
  }

  /** Adds values of a source: a server, a login. Values that would be found in ordinary text are left out. */
  know(source: string, values: readonly (string | undefined)[]): void {
    const before = this.#bySource.get(source) ?? [];
    const found = values.filter((value) => value !== undefined).filter(isSearchable);
    const fresh = found.filter((value) => !before.includes(value));
    if (fresh.length === 0) return;
    this.#bySource.set(source, [...before, ...fresh].slice(-KEPT_PER_SOURCE));
    this.#finder = createFinder(new Set([...this.#bySource.values()].flat()));
  }

  /** The form in which a secret is shown and stored: equal for equal values, and of no use to guess the value. */
  readonly placeholderOf = (value: string): string => {
    const digest = createHmac("sha256", this.#theKey).update("placeholder").update(value).digest("hex");
    return `‹secret, ${value.length} chars, #${digest.slice(0, DIGEST_LENGTH)}›`;
  };

  /** Replaces known values only: in JSON as well as in any other text. */
  readonly withoutKnown = (text: string, replaceValue: (found: string) => string = this.placeholderOf): string =>
    this.#finder === undefined ? text : this.#finder.replace(text, replaceValue);

  /** Replaces known values and text that looks like a secret. */
  readonly hideText = (text: string, replaceValue: (found: string) => string = this.placeholderOf): string =>
    replacePatterns(this.withoutKnown(text, replaceValue), replaceValue);

  /** True if a text holds a known value in another spelling, as in a URL or in escaped JSON. */
  holdsEncoded(text: string): boolean {
    return this.#finder !== undefined && holdsEncoded(text, this.#finder);
  }

  seal(text: string, context: readonly string[]): string {
    this.#seal ??= createSeal(this.#theKey);
    return this.#seal.seal(text, context);
  }

  open(sealed: string, context: readonly string[]): string {
    this.#seal ??= createSeal(this.#theKey);
    return this.#seal.open(sealed, context);
  }

  get #theKey(): Uint8Array {
    return (this.#key ??= this.#getKey());
  }
}

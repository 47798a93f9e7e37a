/** How many bytes values have as JSON. What was measured once is remembered, since parts are asked about again. */
export class JsonSizes {
  readonly #known = new Map<object, number>();

  of(value: unknown): number {
    if (typeof value === "string") return stringBytes(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value)?.length ?? 0;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const size = Array.isArray(value) ? this.#ofArray(value) : this.#ofObject(value);
    this.#known.set(value, size);
    return size;
  }

  #ofArray(items: readonly unknown[]): number {
    return items.reduce<number>((sum, item) => sum + this.of(item) + 1, Math.max(1, 2 - items.length));
  }

  #ofObject(value: object): number {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return entries.reduce(
      (sum, [key, item]) => sum + stringBytes(key) + this.of(item) + 2,
      Math.max(1, 2 - entries.length),
    );
  }
}

function stringBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

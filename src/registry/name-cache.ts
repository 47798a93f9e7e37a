/** A bounded cache that drops values loaded before the last `clear`. */
export class NameCache<T> {
  readonly #limit: number;
  #values = new Map<string, T>();
  #generation = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  find(key: string): T | undefined {
    return this.#values.get(key);
  }

  async load(key: string, read: () => Promise<T>): Promise<T> {
    const generation = this.#generation;
    const value = await read();
    if (generation !== this.#generation) return value;
    // Insertion order is good enough: the limit only bounds memory.
    const [oldest] = this.#values.keys();
    if (this.#values.size >= this.#limit && oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(key, value);
    return value;
  }

  clear(): void {
    this.#generation++;
    this.#values = new Map();
  }
}

/** Values by key until something changes. What was asked for before a change is not kept after it. */
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
    // The oldest goes first; which one that is hardly matters as long as there is an end.
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

import { BoundedMap } from "../base/bounded-map.ts";

/** A bounded cache. Does not store a value whose load began before the last `clear`. */
export class NameCache<T> {
  readonly #values: BoundedMap<string, T>;
  #generation = 0;

  constructor(limit: number) {
    this.#values = new BoundedMap(limit);
  }

  find(key: string): T | undefined {
    return this.#values.get(key);
  }

  async load(key: string, read: () => Promise<T>): Promise<T> {
    const generation = this.#generation;
    const value = await read();
    if (generation === this.#generation) this.#values.set(key, value);
    return value;
  }

  clear(): void {
    this.#generation++;
    this.#values.clear();
  }
}

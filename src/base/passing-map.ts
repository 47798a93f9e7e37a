/**
 * A small map, kept for long, of what stays for a moment: calls under way. The tables of a `Map` are linked, each to
 * the one that took its place. One that has become old keeps all later ones, with everything that was in them, from
 * being collected before the whole heap is: under load every object of every call, 7 KB each. Keys are searched for
 * from end to end, which for as many as are under way at once takes no longer than hashing.
 */
export class PassingMap<Key, Value> {
  readonly #keys: Key[] = [];
  readonly #values: Value[] = [];

  has(key: Key): boolean {
    return this.#keys.includes(key);
  }

  get(key: Key): Value | undefined {
    return this.#values[this.#keys.indexOf(key)];
  }

  set(key: Key, value: Value): void {
    const at = this.#keys.indexOf(key);
    if (at < 0) {
      this.#keys.push(key);
      this.#values.push(value);
    } else this.#values[at] = value;
  }

  /** Returns whether it was there. The last one takes its place. */
  delete(key: Key): boolean {
    const at = this.#keys.indexOf(key);
    if (at < 0) return false;
    const [lastKey, lastValue] = [this.#keys.pop() as Key, this.#values.pop() as Value];
    if (at < this.#keys.length) {
      this.#keys[at] = lastKey;
      this.#values[at] = lastValue;
    }
    return true;
  }

  /** Of this moment, in no certain order. */
  entries(): [Key, Value][] {
    return this.#keys.map((key, at) => [key, this.#values[at] as Value]);
  }

  values(): Value[] {
    return [...this.#values];
  }
}

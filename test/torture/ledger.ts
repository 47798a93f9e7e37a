import { readFileSync, writeFileSync } from "node:fs";

/** The acknowledged ids, stored where no fault is injected. */
export class Ledger {
  readonly path: string;
  readonly #ids: string[] = [];

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, "");
  }

  get count(): number {
    return this.#ids.length;
  }

  add(ids: readonly string[]): void {
    this.#ids.push(...ids);
    writeFileSync(this.path, this.#ids.join("\n"));
  }
}

/** Reads the ids that must be present, for a writer in another process. */
export function readLedger(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

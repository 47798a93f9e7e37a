import { readFileSync, writeFileSync } from "node:fs";

/** What the database has acknowledged, kept by the tester where no fault is injected. */
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

/** How a writer, which is a process of its own, learns what must be there. */
export function readLedger(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

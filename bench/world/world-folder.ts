import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServerEntry } from "../../src/config/schema.ts";
import type { WorldState } from "./entities.ts";
import { seedWorld } from "./seed.ts";
import { describeState, SERVER_NAMES } from "./world.ts";

/** The state of running servers, beside the gateway: nothing of this is a tool. */
export class WorldFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.reset();
  }

  #file(name: string): string {
    return join(this.#path, `${name}.json`);
  }

  reset(): void {
    const state = seedWorld();
    for (const name of SERVER_NAMES) writeFileSync(this.#file(name), JSON.stringify(state[name]));
  }

  /** Returns the state as a text that is equal for equal states. */
  read(): string {
    const parts = SERVER_NAMES.map((name) => [name, JSON.parse(readFileSync(this.#file(name), "utf8")) as unknown]);
    return describeState(Object.fromEntries(parts) as WorldState);
  }

  /** Entries of a configuration; the hints of the servers are true and believed. */
  entries(): Readonly<Record<string, McpServerEntry>> {
    const script = join(import.meta.dirname, "server.ts");
    return Object.fromEntries(
      SERVER_NAMES.map((name) => [
        name,
        { command: process.execPath, args: [script, name, this.#file(name)], pml: { trustHints: true } },
      ]),
    );
  }
}

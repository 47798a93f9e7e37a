import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { until } from "./pml.ts";

export type ListedTool = Readonly<Record<string, unknown>> & { readonly name: string };

/** A tool as a server lists it; the annotations may be anything. */
export function tool(name: string, annotations?: unknown, description = `Does ${name}.`): ListedTool {
  return { name, description, inputSchema: { type: "object" }, ...(annotations === undefined ? {} : { annotations }) };
}

export const CLAIMS = {
  read: { readOnlyHint: true },
  idempotent: { destructiveHint: false, idempotentHint: true },
  write: { destructiveHint: false },
  destructive: { destructiveHint: true },
} as const;

/** A server whose tools a test redefines at will. */
export class Turncoat {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly #toolsFile: string;
  readonly #log: string;
  #listings = 0;

  constructor(folder: string, name: string, pml: McpServerEntry["pml"]) {
    this.name = name;
    this.#toolsFile = join(folder, `${name}.json`);
    this.#log = join(folder, `${name}.log`);
    writeFileSync(this.#log, "");
    this.list();
    const script = join(import.meta.dirname, "turncoat-server.ts");
    this.entry = { command: process.execPath, args: [script, this.#toolsFile, this.#log], ...(pml && { pml }) };
  }

  /** Changes what the server lists; returns the name of a tool that marks this listing. */
  list(...tools: readonly ListedTool[]): string {
    this.#listings += 1;
    const mark = `mark_${this.#listings}`;
    writeFileSync(this.#toolsFile, JSON.stringify([...tools, tool(mark)]));
    return mark;
  }

  /** Changes the list and waits until the gateway has it. */
  async define(home: string, ...tools: readonly ListedTool[]): Promise<void> {
    const mark = `${this.name}:${this.list(...tools)}`;
    await until(`the gateway knows ${mark}`, async () => {
      const address = readDaemonAddress(home);
      const known = address && (await callDaemon(address, routes.listTools).catch(() => undefined));
      return known?.some(({ id }) => id === mark) === true;
    });
  }

  /** The calls that reached the server. */
  called(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
  }
}

/** The load while owners are killed: clients that send requests, and imports. */
import { routes } from "../../src/contract/routes.ts";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { uploadToDaemon } from "../../src/daemon/daemon-client.ts";
import { readPersonAddress } from "../../src/daemon/daemon-file.ts";
import { PmlError } from "../../src/base/errors.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { writeSmallExport } from "./small-export.ts";

const ASK_EVERY_MS = 15;
const IMPORT_EVERY_MS = 20;

/** An MCP client that lists the tools over and over. It must never get an error. */
export class AskingClient {
  readonly errors: string[] = [];
  answers = 0;
  /** The time of the latest request that was answered. */
  answeredUpTo = 0;
  #stopping = false;
  readonly #loop: Promise<void>;

  constructor(client: Client) {
    this.#loop = this.#ask(client);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop;
  }

  async #ask(client: Client): Promise<void> {
    while (!this.#stopping && this.errors.length === 0) {
      const sent = performance.now();
      try {
        await client.listTools();
        this.answers += 1;
        this.answeredUpTo = sent;
      } catch (error) {
        this.errors.push(`tools/list failed: ${String(error)}`);
      }
      await sleep(ASK_EVERY_MS);
    }
  }
}

/** Imports small exports in sequence and records the ids of the acknowledged ones. */
export class Importer {
  readonly acknowledged: string[] = [];
  /** Imports cut off by a kill: they may be present or not, but complete. */
  interrupted = 0;
  readonly errors: string[] = [];
  #lastAt = 0;
  #stopping = false;
  readonly #loop: Promise<void>;

  constructor(home: string, folder: string) {
    this.#loop = this.#work(home, join(folder, "small.pml"));
  }

  /** True if an import was acknowledged after the moment. */
  isPast(moment: number): boolean {
    return this.#lastAt > moment || this.errors.length > 0;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop;
  }

  async #work(home: string, path: string): Promise<void> {
    while (!this.#stopping && this.errors.length === 0) {
      const address = readPersonAddress(home);
      const id = writeSmallExport(path);
      try {
        if (address === undefined) throw new Error("no daemon has come up yet");
        await uploadToDaemon(address, routes.importMemory, createReadStream(path));
        this.acknowledged.push(id);
        this.#lastAt = Date.now();
      } catch (error) {
        // Distinguishes a daemon that answers with an error from one that was killed.
        const refused = error instanceof PmlError && error.code !== "daemon_unreachable";
        if (refused) this.errors.push(`import failed: ${error.code}: ${error.message}`);
        this.interrupted += 1;
      }
      await sleep(IMPORT_EVERY_MS);
    }
  }
}

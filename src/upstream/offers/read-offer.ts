import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ResourceTemplateType } from "@modelcontextprotocol/client";
import type { z } from "zod";
import type { ChangeBudget } from "./change-budget.ts";
import { cleanOffer, type Offer } from "./offer.ts";
import { listPage } from "../connection/passthrough.ts";

const MOST_PAGES = 1_000;
/** Entries of one list, and the size of all of its pages as JSON. */
const MOST_ENTRIES = 50_000;
const LARGEST_LIST = 32 * 1024 * 1024;
/** Coalesces changes: a server that registers ten tools sends ten notices. */
const BUNCH_MS = 100;
/** A closed connection is noticed after this time. */
const LONGEST_SLEEP_MS = 1_000;

export interface OfferReaderOptions {
  readonly timeoutMs: number;
  readonly budget: ChangeBudget;
  /** Called when the server announces more changes than are read. */
  readonly onDelay?: (ms: number) => void;
}

/** Reads the offer of a server, sequentially: of two concurrent reads the older could finish last. */
export class OfferReader {
  readonly #client: Client;
  readonly #options: OfferReaderOptions;
  #last: Promise<unknown> = Promise.resolve();
  #isAnnounced = false;
  #isFollowing = false;

  constructor(client: Client, options: OfferReaderOptions) {
    this.#client = client;
    this.#options = options;
  }

  read(): Promise<Offer> {
    const offer = this.#last.then(() => this.#readNow());
    this.#last = offer.catch(() => undefined); // the caller of that read gets the error
    return offer;
  }

  /**
   * Reads after an announced change, once for a burst of them. Reads again only after the offer was taken, so that at
   * most one waits: the newest.
   */
  async follow(take: (offer: Offer) => void | Promise<void>): Promise<void> {
    this.#isAnnounced = true;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      while (this.#isAnnounced) {
        await this.#pause();
        if (this.#client.transport === undefined) return; // it was closed meanwhile
        this.#isAnnounced = false;
        await take(await this.read());
      }
    } finally {
      this.#isFollowing = false;
    }
  }

  async #pause(): Promise<void> {
    const { budget, onDelay } = this.#options;
    const delay = budget.waitMs();
    if (delay > 0) onDelay?.(delay);
    let left = Math.max(BUNCH_MS, delay);
    for (; left > 0 && this.#client.transport !== undefined; left -= LONGEST_SLEEP_MS)
      await sleep(Math.min(left, LONGEST_SLEEP_MS), undefined, { ref: false });
  }

  async #readNow(): Promise<Offer> {
    const { timeoutMs, budget } = this.#options;
    const seen = { size: 0 };
    try {
      return await readOffer(this.#client, timeoutMs, seen);
    } finally {
      budget.spend(seen.size);
    }
  }
}

/** Counts the characters of the lists that were read, also of those before a failure. */
interface ReadSize {
  size: number;
}

/** Reads all lists of a server that it declares. */
async function readOffer(client: Client, timeout: number, seen: ReadSize): Promise<Offer> {
  const capabilities = client.getServerCapabilities() ?? {};
  const read = async <T>(declared: unknown, method: string, key: string): Promise<T[]> =>
    declared === undefined ? [] : ((await readPages(client, { method, key, timeout, seen })) as T[]);
  return cleanOffer({
    serverInfo: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities,
    tools: await read(capabilities.tools, "tools/list", "tools"),
    resources: await read(capabilities.resources, "resources/list", "resources"),
    resourceTemplates: await read<ResourceTemplateType>(
      capabilities.resources,
      "resources/templates/list",
      "resourceTemplates",
    ).catch(ignoreMissingMethod),
    prompts: await read(capabilities.prompts, "prompts/list", "prompts"),
  });
}

interface PagedList {
  readonly method: string;
  readonly key: string;
  readonly timeout: number;
  readonly seen: ReadSize;
}

async function readPages(client: Client, { method, key, timeout, seen }: PagedList): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | undefined;
  let size = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const result: z.infer<typeof listPage> = await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      listPage,
      { timeout },
    );
    const found = (result[key] as unknown[] | undefined) ?? [];
    const { length } = JSON.stringify(found);
    size += length;
    seen.size += length;
    if (items.length + found.length > MOST_ENTRIES) throw new Error(`${method} has more than ${MOST_ENTRIES} entries`);
    if (size > LARGEST_LIST) throw new Error(`${method} has more than ${LARGEST_LIST} characters`);
    for (const item of found) items.push(item);
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
  }
  throw new Error(`${method} did not end after ${MOST_PAGES} pages`);
}

const METHOD_NOT_FOUND = -32_601;

/** Many servers have resources without templates, and answer with an error. */
function ignoreMissingMethod(error: unknown): [] {
  if (error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND) return [];
  throw error;
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ResourceTemplateType } from "@modelcontextprotocol/client";
import type { z } from "zod";
import { cleanOffer, type Offer } from "./offer.ts";
import { listPage } from "../connection/passthrough.ts";

const MOST_PAGES = 1_000;
/** Entries of one list, and the size of all of its pages as JSON. */
const MOST_ENTRIES = 50_000;
const LARGEST_LIST = 32 * 1024 * 1024;
/** Coalesces changes: a server that registers ten tools sends ten notices. */
const BUNCH_MS = 100;

/** Reads the offer of a server, sequentially: of two concurrent reads the older could finish last. */
export class OfferReader {
  readonly #client: Client;
  readonly #timeoutMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #scheduled = false;

  constructor(client: Client, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  read(): Promise<Offer> {
    const offer = this.#last.then(() => readOffer(this.#client, this.#timeoutMs));
    this.#last = offer.catch(() => undefined); // the caller of that read gets the error
    return offer;
  }

  /** Reads once for a burst of changes; returns undefined for all but the first. */
  async readChanged(): Promise<Offer | undefined> {
    if (this.#scheduled) return undefined;
    this.#scheduled = true;
    await sleep(BUNCH_MS);
    this.#scheduled = false;
    return this.read();
  }
}

/** Reads all lists of a server that it declares. */
async function readOffer(client: Client, timeout: number): Promise<Offer> {
  const capabilities = client.getServerCapabilities() ?? {};
  const read = async <T>(declared: unknown, method: string, key: string): Promise<T[]> =>
    declared === undefined ? [] : ((await readPages(client, { method, key, timeout })) as T[]);
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
}

async function readPages(client: Client, { method, key, timeout }: PagedList): Promise<unknown[]> {
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
    size += JSON.stringify(found).length;
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

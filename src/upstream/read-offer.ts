import type { Client, ResourceTemplateType } from "@modelcontextprotocol/client";
import type { z } from "zod";
import type { Offer } from "./offer.ts";
import { listPage } from "./passthrough.ts";

const MOST_PAGES = 1_000;

/** Asks a server for everything it offers. What it does not declare it is not asked for. */
export async function readOffer(client: Client): Promise<Offer> {
  const capabilities = client.getServerCapabilities() ?? {};
  const read = async <T>(declared: unknown, method: string, key: string): Promise<T[]> =>
    declared === undefined ? [] : ((await readPages(client, method, key)) as T[]);
  return {
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
  };
}

async function readPages(client: Client, method: string, key: string): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const result: z.infer<typeof listPage> = await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      listPage,
    );
    items.push(...((result[key] as unknown[] | undefined) ?? []));
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
  }
  throw new Error(`${method} did not end after ${MOST_PAGES} pages`);
}

const METHOD_NOT_FOUND = -32_601;

/** Many servers have resources and no templates, and say so with an error. */
function ignoreMissingMethod(error: unknown): [] {
  if (error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND) return [];
  throw error;
}

import { callDaemon } from "../daemon/daemon-client.ts";
import { PmlError } from "../base/errors.ts";
import { routes } from "../contract/routes.ts";
import type { Sent } from "../contract/wire.ts";
import { reachAsPerson } from "./as-person.ts";
import type { Answer, Input } from "./command.ts";

const FETCH_LIMIT_MS = 15_000;
const MOST_BYTES = 64 * 1024;

/** Copies a capability that another gateway publishes at an address. */
export async function forkPublished(input: Input, url: string, name: string | undefined): Promise<Answer> {
  const published = await download(url);
  const body = { published, ...(name === undefined ? {} : { name }) };
  const copy = await callDaemon(await reachAsPerson(input), routes.adoptPublished, { body });
  return {
    data: copy,
    text: `${copy.display_name} is a copy of ${copy.forked_from ?? url}`,
    notes: [...copy.warnings, `Read it before you run it: pml code ${copy.display_name}`],
  };
}

type Published = Sent<typeof routes.adoptPublished.body>["published"];

/** Fetches the document; the daemon checks it. */
async function download(url: string): Promise<Published> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_LIMIT_MS) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    return JSON.parse(await readShort(response)) as Published;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PmlError("file_unusable", `Cannot get ${url}: ${reason}`, {
      hint: "What a gateway publishes is listed at its address, under /registry/capabilities",
      cause,
    });
  }
}

/** Reads up to a limit, however much the other side sends. */
async function readShort({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

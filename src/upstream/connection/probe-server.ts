import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpServerEntry } from "../../config/schema.ts";
import { createLogger } from "../../base/log.ts";
import type { Offer } from "../offers/offer.ts";
import { ProcessGroups } from "./process-groups.ts";
import { createServerOutput } from "./server-output.ts";
import type { ServerStatus } from "../server-status.ts";
import { UpstreamServer } from "../upstream-server.ts";

export interface Probe {
  readonly status: ServerStatus;
  /** Undefined if the server could not be reached; its status has the reason. */
  readonly offer: Offer | undefined;
}

/** A probe only reads lists. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;

/** Connects to a server like the daemon does, reads its offer and disconnects. */
export async function probeServer(name: string, entry: McpServerEntry, connectMs: number): Promise<Probe> {
  // Not in PML_HOME, where the daemon records its own groups.
  const folder = mkdtempSync(join(tmpdir(), "pml-probe-"));
  const log = createLogger({ level: "silent", file: undefined, secrets: [] });
  let offer: Offer | undefined;
  const server = new UpstreamServer({
    name,
    entry,
    limits: {
      connectMs,
      callMs: connectMs,
      longestCallMs: connectMs,
      inFlight: 1,
      queued: 0,
      messageBytes: LARGEST_MESSAGE,
    },
    groups: new ProcessGroups(folder, log),
    log,
    output: createServerOutput(folder, { name, entry }),
    onOffer: (fresh) => void (offer = fresh),
    onNotification: () => undefined,
  });
  try {
    await server.connect().catch(() => undefined); // the status has the error
    return { status: server.status, offer };
  } finally {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

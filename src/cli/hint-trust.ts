import { setTimeout as sleep } from "node:timers/promises";
import { toErrorReport } from "../base/errors.ts";
import { toVisible } from "../base/visible.ts";
import { isToolOf, parseToolId } from "../catalogue/tool-id.ts";
import { routes } from "../contract/routes.ts";
import type { DescribedTool, ServerRow } from "../contract/servers.ts";
import { callDaemon } from "../daemon/daemon-client.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { claimedEffect, type Effect, EFFECTS } from "../permissions/effect.ts";
import { reachAsPerson } from "./as-person.ts";
import type { Input } from "./command.ts";
import { confirmAtTerminal } from "./confirm-at-terminal.ts";
import { formatPairs } from "./table.ts";

/** Effects that a server claims for its tools, and tools of which it says nothing though they seem to only read. */
type Claim = Effect | "confirmed" | "proposed";

/** The tools of a server by what it claims for them. */
export type ClaimedTools = Readonly<Partial<Record<Claim, readonly string[]>>>;

export async function readClaims(daemon: DaemonAddress, server: string): Promise<ClaimedTools> {
  const tools = await callDaemon(daemon, routes.listTools);
  return groupByClaim(tools.filter(({ id }) => isToolOf(id, server)));
}

type ClaimingTool = Pick<DescribedTool, "id" | "annotations" | "seemsToRead">;

function groupByClaim(tools: readonly ClaimingTool[]): ClaimedTools {
  return Object.fromEntries(
    CLAIMS.map((claim) => [claim, tools.filter((tool) => claimOf(tool) === claim)] as const)
      .filter(([, group]) => group.length > 0)
      .map(([claim, group]) => [claim, group.map(({ id }) => showName(parseToolId(id).tool))]),
  );
}

function claimOf({ annotations, seemsToRead }: ClaimingTool): Claim {
  if (seemsToRead === undefined) return claimedEffect(annotations);
  return seemsToRead.confirmed ? "confirmed" : "proposed";
}

/** The tools that a person confirms to only read, with the definitions that they were shown. */
function readsAmong(tools: readonly ClaimingTool[]): Record<string, string> {
  return Object.fromEntries(
    tools.flatMap(({ id, seemsToRead }) =>
      seemsToRead === undefined ? [] : [[parseToolId(id).tool, seemsToRead.hash] as const],
    ),
  );
}

/** Quotes a name that could be taken for something else, such as for two names. */
function showName(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : JSON.stringify(toVisible(name));
}

const CLAIMS: readonly Claim[] = ["read", "confirmed", "proposed", ...EFFECTS.slice(1)];

const HEADINGS: Readonly<Record<Claim, string>> = {
  read: "only read",
  confirmed: "only read, as a person confirmed (it says nothing)",
  proposed: "seem to only read (it says nothing, their names and texts do)",
  idempotent: "change something, once",
  write: "change something",
  destructive: "may overwrite or delete",
};

/** Describes what a server says about its tools; one that says nothing of a tool says that it may destroy. */
export function describeClaims(server: string, claims: ClaimedTools): string {
  const pairs = CLAIMS.flatMap((claim) => {
    const tools = claims[claim];
    return tools === undefined ? [] : [[HEADINGS[claim], tools.join(", ")] as const];
  });
  if (pairs.length === 0) return `${server} offers no tools`;
  return `${server} says of its tools that they\n${formatPairs(Object.fromEntries(pairs)).replace(/^/gm, "  ")}`;
}

/** Shows the claims of servers, and believes them after a key pressed at the terminal. Throws if none is pressed. */
export async function trustAtTerminal(input: Input, servers: readonly string[]): Promise<void> {
  const daemon = await reachAsPerson(input);
  const all = await callDaemon(daemon, routes.listTools);
  const offers = servers.map((server) => ({ server, tools: all.filter(({ id }) => isToolOf(id, server)) }));
  await confirmAtTerminal({
    shown: offers.map(({ server, tools }) => describeClaims(server, groupByClaim(tools))).join("\n\n"),
    question: "Believe that? Tools that only read then run unasked.",
    elsewhere: servers.map((server) => `pml hints ${server} --trust`).join("; "),
  });
  for (const { server, tools } of offers) {
    await callDaemon(daemon, routes.trustHints, { body: { server, trust: true, reads: readsAmong(tools) } });
  }
}

/** Fails before anything is done if the person who says `--trust-hints` does not sit at a terminal. */
export async function checkTrustOption({ options }: Input): Promise<void> {
  if (options["trustHints"] !== true || isAtTerminal()) return;
  await confirmAtTerminal({ shown: "", question: "", elsewhere: "pml hints <server> --trust" });
}

/**
 * Asks about each server that was just added, or with `--trust-hints` about all of them at once. The claims shown are
 * those that the daemon has stored, so that a server cannot show a person others than the gateway. Returns notes about
 * servers that are not believed.
 */
export async function offerTrust(input: Input, servers: readonly string[]): Promise<string[]> {
  if (servers.length === 0) return [];
  if (!isAtTerminal() || input.terminal.options.json) return [describeDoubt(servers)];
  const daemon = await reachAsPerson(input);
  const rows = await Promise.all(servers.map((server) => settle(input, daemon, server)));
  const ready = servers.filter((_server, index) => rows[index]?.state === "ready");
  const doubted = servers.filter((server) => !ready.includes(server));
  const groups = input.options["trustHints"] === true ? [ready] : ready.map((server) => [server]);
  for (const group of groups.filter(({ length }) => length > 0)) {
    try {
      await trustAtTerminal(input, group);
    } catch (error) {
      if (toErrorReport(error).code !== "person_needed") throw error;
      doubted.push(...group);
    }
  }
  return doubted.length === 0 ? [] : [describeDoubt(doubted)];
}

function describeDoubt(servers: readonly string[]): string {
  const [first] = servers;
  const command = servers.length === 1 ? `pml hints ${first} --trust` : "pml hints <server> --trust";
  return `Nobody believes what ${servers.join(", ")} says about its tools yet: in programs they ask before they run, also those that only read. To believe it: ${command}`;
}

function isAtTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

const APPEAR_MS = 5_000;
const SETTLE_MS = 40_000;

/** Waits until the daemon took the server over and has connected it, or could not. */
async function settle(input: Input, daemon: DaemonAddress, name: string): Promise<ServerRow | undefined> {
  const started = Date.now();
  input.terminal.say(`Starting ${name}, to see its tools`);
  for (;;) {
    const row = (await callDaemon(daemon, routes.listServers)).find((each) => each.name === name);
    const limit = row === undefined ? APPEAR_MS : SETTLE_MS;
    const busy = row === undefined || row.state === "connecting" || row.state === "idle";
    if (!busy || Date.now() - started > limit) return row;
    await sleep(100);
  }
}

import type { RootCommand } from "@bomb.sh/tab";
import { resolveHome } from "../config/environment.ts";
import { findDaemon } from "../daemon/start-daemon.ts";
import type { Command } from "./command.ts";
import { askGateway } from "./ask-registry.ts";

const MOST_NAMES = 200;

/** Lists names of records for the shell. A completion neither starts a daemon nor reports an error. */
export async function readRecordNames(): Promise<readonly string[]> {
  try {
    const daemon = await findDaemon(resolveHome());
    if (daemon === undefined) return [];
    const { records } = await askGateway(daemon, "dns:query", { limit: MOST_NAMES, sort_by: "usage" });
    return records.map(({ display_name: name }) => name);
  } catch {
    return []; // without an answer there is nothing to complete
  }
}

/** Offers the names wherever a command takes one. */
export function completeNames(root: RootCommand, commands: readonly Command[], names: readonly string[]): void {
  for (const { name, args = [] } of commands) {
    for (const argument of args.filter(({ completes }) => completes === "record")) {
      const plain = argument.name.replace(/[<>[\].]/g, "");
      const offer = (complete: (value: string, description: string) => void): void => {
        for (const each of names) complete(each, "");
      };
      root.commands.get(name)?.argument(plain, offer, argument.name.includes("..."));
    }
  }
}

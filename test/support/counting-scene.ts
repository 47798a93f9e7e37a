import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { makeFolder } from "./folder.ts";
import { type GatewayHome, startGateway } from "./gateway-home.ts";
import { runJson, runPml } from "./pml.ts";
import { servers } from "./upstream-servers.ts";

/** A gateway over a server that logs every call, and one for the files of a folder. */
export interface CountingScene extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly folder: string;
  /** Returns the calls that reached the counting server, in order. */
  happened(): string[];
  restart(): Promise<void>;
}

export async function openCountingScene(
  config: Record<string, unknown> = {},
  more: (folder: string) => Readonly<Record<string, McpServerEntry>> = () => ({}),
): Promise<CountingScene> {
  const work = await makeFolder();
  const file = join(work.path, "calls.txt");
  const folder = join(work.path, "files");
  mkdirSync(folder);
  writeFileSync(file, "");
  const entries = { counting: servers.counting(file), filesystem: servers.filesystem(folder), ...more(work.path) };
  const home = await startGateway(entries, { config });
  await home.ready(...Object.keys(entries));
  return {
    home,
    folder,
    happened: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    async restart() {
      await runPml(["down"], { home: home.path });
      await runJson(["up"], { home: home.path });
    },
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../test/support/cache-folder.ts";
import { servers } from "../../test/support/upstream-servers.ts";

const PACKAGES = ["@utcp/code-mode@1.2.12", "@utcp/sdk@1.1.2", "@utcp/mcp@1.1.3", "isolated-vm@6.2.0"];

interface PeerWork {
  readonly kind: "utcp" | "bare";
  readonly code: string;
  readonly count: number;
  readonly together?: boolean;
}

export interface Peer extends Disposable {
  run(work: PeerWork): Promise<{ readonly durations: readonly number[]; readonly total: number }>;
}

interface PeerReply {
  readonly id?: number;
  readonly error?: string;
  readonly durations: readonly number[];
  readonly total: number;
}

/** UTCP behind an MCP server over stdio, as agents use it. */
export function describeUtcpServer(): { readonly args: string[]; readonly cwd: string } {
  const prefix = install();
  const { command, args } = servers.everything;
  const script = join(import.meta.dirname, "utcp-server.mjs");
  return { args: ["--no-node-snapshot", script, prefix, command, ...args], cwd: prefix };
}

/** Installs the peers on demand into a cache folder and runs them in a process of their own. */
export async function startPeer(): Promise<Peer> {
  const prefix = install();
  const { command, args } = servers.everything;
  const child = fork(join(import.meta.dirname, "peer-process.mjs"), [prefix, command, ...args], {
    execArgv: ["--no-node-snapshot"],
    cwd: prefix,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("UTCP did not start"))),
  ]);
  let last = 0;
  return {
    async run(work) {
      const id = ++last;
      const reply = new Promise<PeerReply>((resolve) => {
        const listen = (message: PeerReply): void => {
          if (message.id !== id) return;
          child.off("message", listen);
          resolve(message);
        };
        child.on("message", listen);
      });
      child.send({ ...work, id });
      const { error, durations, total } = await reply;
      if (error !== undefined) throw new Error(`${work.kind}: ${error}`);
      return { durations, total };
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

function install(): string {
  const prefix = cacheFolder("bench-execute-peers");
  if (!existsSync(join(prefix, "node_modules", "@utcp", "mcp"))) {
    mkdirSync(prefix, { recursive: true });
    writeFileSync(join(prefix, "package.json"), "{}");
    execFileSync("npm", ["install", "--prefix", prefix, "--no-save", "--ignore-scripts", ...PACKAGES], {
      stdio: ["ignore", 2, 2],
    });
  }
  return prefix;
}

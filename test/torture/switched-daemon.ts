import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { PML, testEnvironment, until } from "../support/pml.ts";
import { registerCleanup } from "./cleanup.ts";
import { KILL_AT_HEADER, STATEMENTS_FILE } from "./kill-switch-names.ts";

/** The home of a daemon, and its database if that is on a server. */
export interface DaemonLocation {
  readonly home: string;
  readonly database: string | undefined;
}

export type DaemonRequest = readonly [tool: string, input: Readonly<Record<string, unknown>>];

export interface DaemonAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly warnings: unknown;
}

const START_LIMIT_MS = 60_000;

/** A real daemon with a kill switch, and its MCP client. */
export class SwitchedDaemon implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #statements: string;
  readonly #cleanup: Disposable;
  #killAt: number | undefined;
  #client: Client | undefined;

  private constructor(child: ChildProcess, statements: string) {
    this.#child = child;
    this.#statements = statements;
    this.#cleanup = registerCleanup(() => void child.kill("SIGKILL"));
  }

  static async start({ home, database }: DaemonLocation): Promise<SwitchedDaemon> {
    rmSync(join(home, "daemon.json"), { force: true }); // left by a killed daemon
    const statements = join(home, "statements");
    rmSync(statements, { force: true });
    const env = { [STATEMENTS_FILE]: statements, ...(database === undefined ? {} : { DATABASE_URL: database }) };
    const script = join(import.meta.dirname, "kill-switch.ts");
    const child = spawn(process.execPath, ["--import", script, PML, "serve"], {
      env: testEnvironment({ home, env }),
      cwd: home,
      stdio: "ignore",
    });
    const daemon = new SwitchedDaemon(child, statements);
    await until("the daemon answers", () => readDaemonAddress(home) !== undefined || !daemon.isRunning, START_LIMIT_MS);
    await daemon.#connect(home);
    return daemon;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns undefined if the daemon was killed during the call. */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    killAt?: number,
  ): Promise<DaemonAnswer | undefined> {
    this.#killAt = killAt;
    try {
      const result = await this.#connected.callTool({ name, arguments: { ...input } });
      const [first] = result.content;
      const text = first?.type === "text" ? first.text : "";
      return { text, isError: result.isError === true, warnings: result._meta?.["dev.pml/warnings"] };
    } catch (error) {
      if (killAt === undefined || killAt === 0) throw error;
      if (this.isRunning) await once(this.#child, "exit");
      return undefined;
    } finally {
      this.#killAt = undefined;
    }
  }

  /** Statements sent to the database since the call with position 0. */
  get statements(): string[] {
    return existsSync(this.#statements) ? readFileSync(this.#statements, "utf8").trim().split("\n") : [];
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.isRunning) {
      const exit = once(this.#child, "exit");
      this.#child.kill(signal);
      await exit;
    }
    await this.#client?.close().catch(() => undefined); // it may notice first that the daemon is gone
    this.#cleanup[Symbol.dispose]();
  }

  get #connected(): Client {
    if (this.#client === undefined) throw new Error("the daemon has not started");
    return this.#client;
  }

  async #connect(home: string): Promise<void> {
    const address = readDaemonAddress(home);
    if (address === undefined) throw new Error("the daemon ended while it started");
    const client = new Client({ name: "torture", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    const pull: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set("Authorization", `Bearer ${address.token}`);
      if (this.#killAt !== undefined && init?.method === "POST") headers.set(KILL_AT_HEADER, String(this.#killAt));
      return fetch(url, { ...init, headers });
    };
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address.url), { fetch: pull }));
    this.#client = client;
  }
}

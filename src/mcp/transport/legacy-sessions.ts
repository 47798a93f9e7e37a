import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type InitializeRequest, isInitializeRequest, type McpServerFactory } from "@modelcontextprotocol/server";
import { type GuardedRequest, principalOf } from "../../auth/caller.ts";
import type { Accounts } from "../server/accounts.ts";
import { refuse } from "./refuse-request.ts";
import { SessionTransport } from "./session-transport.ts";

interface Session {
  readonly transport: SessionTransport;
  /** Only this principal may use the session, even if another knows its id. */
  readonly owner: string | undefined;
  readonly place: Disposable;
  lastUsed: number;
}

interface LegacySessionsOptions {
  readonly factory: McpServerFactory;
  readonly accounts: Accounts;
  readonly onerror: (error: Error) => void;
}

const SESSION_IDLE_MS = 30 * 60 * 1000;

/** Sessions of clients of the 2025 protocols, which hold negotiated and requested state. */
export class LegacySessions {
  readonly #options: LegacySessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: LegacySessionsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#endIdle(), SESSION_IDLE_MS / 10).unref();
  }

  async handle(request: GuardedRequest, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const session = this.#sessions.get(id);
      // 404 makes a client begin a new session, for example after a restart.
      if (session === undefined || session.owner !== principalOf(request.auth)?.id)
        return refuse(response, 404, "Session not found; initialize again");
      session.lastUsed = Date.now();
      return session.transport.handleRequest(request, response, body);
    }
    if (!isInitializeRequest(body)) return refuse(response, 400, "The first request of a session must be initialize");
    await this.#begin(request, response, body);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.allSettled([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #begin(request: GuardedRequest, response: ServerResponse, body: InitializeRequest): Promise<void> {
    const { factory, accounts, onerror } = this.#options;
    const principal = principalOf(request.auth);
    const place = accounts.takeSession(principal, body.params.clientInfo.name);
    const transport = new SessionTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { transport, owner: principal?.id, place, lastUsed: Date.now() });
      },
      onsessionclosed: (id) => this.#forget(id),
    });
    const server = await factory({ era: "legacy" });
    transport.onerror = onerror;
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
    if (transport.sessionId !== undefined) return;
    // the SDK refused the request, so there is no session
    place[Symbol.dispose]();
    await transport.close();
  }

  #forget(id: string): void {
    this.#sessions.get(id)?.place[Symbol.dispose]();
    this.#sessions.delete(id);
  }

  #endIdle(): void {
    for (const [id, { transport, lastUsed }] of this.#sessions) {
      if (Date.now() - lastUsed < SESSION_IDLE_MS) continue;
      this.#forget(id);
      transport.close().catch(this.#options.onerror);
    }
  }
}

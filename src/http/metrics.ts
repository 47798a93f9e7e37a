import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EventBus } from "../base/events.ts";

export interface Metrics {
  readonly contentType: string;
  print(): Promise<string>;
  requestFinished(route: string, status: number, seconds: number): void;
  /** Counts a refusal for a limit, by its configuration key. */
  limitReached(key: string): void;
  authRefused(reason: string): void;
}

export interface MetricsSources {
  readonly events: EventBus;
  readonly countConnections: () => number;
  readonly countOpen: (kind: OpenKind) => number;
}

/** Open sessions, open streams, and receivers of change notices: stdio connections and sessions. */
export type OpenKind = "sessions" | "streams" | "told";

export function createMetrics({ events, countConnections, countOpen }: MetricsSources): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const requests = new Histogram({
    name: "pml_http_request_seconds",
    help: "HTTP requests by route and status.",
    labelNames: ["route", "status"],
    registers,
  });
  const scopeChanges = new Counter({
    name: "pml_scope_changes_total",
    help: "Changes of definitions seen by this gateway, its own and those of others.",
    registers,
  });
  gauge(register, "pml_stdio_connections", "MCP clients connected through the stdio shim.", countConnections);
  gauge(register, "pml_http_sessions", "Open sessions of MCP clients over HTTP.", () => countOpen("sessions"));
  gauge(register, "pml_http_streams", "Open streams of change notices over HTTP.", () => countOpen("streams"));
  gauge(register, "pml_mcp_servers", "Connections and sessions that are told of changes.", () => countOpen("told"));
  const refusals = new Counter({
    name: "pml_limit_refusals_total",
    help: "Requests refused for a limit, by its configuration key.",
    labelNames: ["limit"],
    registers,
  });
  const authRefusals = new Counter({
    name: "pml_auth_refusals_total",
    help: "Requests without a valid token of an authorization server, by reason.",
    labelNames: ["reason"],
    registers,
  });
  events.subscribe(({ kind }) => {
    if (kind === "scope_changed") scopeChanges.inc();
  });
  return {
    contentType: register.contentType,
    print: () => register.metrics(),
    requestFinished: (route, status, seconds) => requests.observe({ route, status }, seconds),
    limitReached: (limit) => refusals.inc({ limit }),
    authRefused: (reason) => authRefusals.inc({ reason }),
  };
}

function gauge(register: Registry, name: string, help: string, read: () => number): void {
  const registers = [register];
  const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
}

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EventBus } from "../events.ts";

export interface Metrics {
  readonly contentType: string;
  print(): Promise<string>;
  requestFinished(route: string, status: number, seconds: number): void;
  /** Somebody met a limit, which is known by its configuration key. */
  limitReached(key: string): void;
  authRefused(reason: string): void;
}

export interface MetricsSources {
  readonly events: EventBus;
  readonly countConnections: () => number;
  readonly countOpen: (kind: "sessions" | "streams") => number;
}

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
  const connections = new Gauge({
    name: "pml_stdio_connections",
    help: "MCP clients connected through the stdio shim.",
    registers,
  });
  const sessions = new Gauge({
    name: "pml_http_sessions",
    help: "Open sessions of MCP clients over HTTP.",
    registers,
  });
  const streams = new Gauge({
    name: "pml_http_streams",
    help: "Open streams of change notices over HTTP.",
    registers,
  });
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
  events.subscribe(() => scopeChanges.inc());
  return {
    contentType: register.contentType,
    print() {
      connections.set(countConnections());
      sessions.set(countOpen("sessions"));
      streams.set(countOpen("streams"));
      return register.metrics();
    },
    requestFinished: (route, status, seconds) => requests.observe({ route, status }, seconds),
    limitReached: (limit) => refusals.inc({ limit }),
    authRefused: (reason) => authRefusals.inc({ reason }),
  };
}

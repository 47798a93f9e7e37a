import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EventBus } from "../events.ts";

export interface Metrics {
  readonly contentType: string;
  print(): Promise<string>;
  requestFinished(route: string, status: number, seconds: number): void;
}

export interface MetricsSources {
  readonly events: EventBus;
  readonly countConnections: () => number;
}

export function createMetrics({ events, countConnections }: MetricsSources): Metrics {
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
  events.subscribe(({ kind }) => {
    if (kind === "scope_changed") scopeChanges.inc();
  });
  return {
    contentType: register.contentType,
    print() {
      connections.set(countConnections());
      return register.metrics();
    },
    requestFinished: (route, status, seconds) => requests.observe({ route, status }, seconds),
  };
}

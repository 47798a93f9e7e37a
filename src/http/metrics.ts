import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EventBus } from "../events.ts";

export interface Metrics {
  readonly contentType: string;
  print(): Promise<string>;
  requestFinished(route: string, status: number, seconds: number): void;
}

export interface MetricsSources {
  readonly events: EventBus;
  readonly counts: ConnectionCounts;
}

/** What is open at the moment; read whenever somebody looks. */
interface ConnectionCounts {
  readonly stdio: () => number;
  readonly sessions: () => number;
  readonly servers: () => number;
}

export function createMetrics({ events, counts }: MetricsSources): Metrics {
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
  gauge(register, "pml_stdio_connections", "MCP clients connected through the stdio shim.", counts.stdio);
  gauge(register, "pml_http_sessions", "Sessions of MCP clients of the 2025 era over HTTP.", counts.sessions);
  gauge(register, "pml_mcp_servers", "Connections and sessions that are told of changes.", counts.servers);
  events.subscribe(() => scopeChanges.inc());
  return {
    contentType: register.contentType,
    print: () => register.metrics(),
    requestFinished: (route, status, seconds) => requests.observe({ route, status }, seconds),
  };
}

function gauge(register: Registry, name: string, help: string, read: () => number): void {
  const registers = [register];
  const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
}

import type { IncomingHttpHeaders } from "node:http";
import { BAGGAGE_META_KEY, TRACEPARENT_META_KEY, TRACESTATE_META_KEY } from "@modelcontextprotocol/server";
import { trace } from "@opentelemetry/api";
import { findTraceparent, isTraceparent } from "../../base/tracing.ts";
import { isObject } from "../../base/json.ts";

/**
 * Copies the trace context of the HTTP request into `_meta`, which reaches the upstream server. A context in the message
 * itself is closer to the caller and wins.
 */
export function adoptTraceHeaders(headers: IncomingHttpHeaders, body: unknown): void {
  const { traceparent, tracestate, baggage } = headers;
  if (!isTraceparent(traceparent) || !hasParams(body)) return;
  const meta = (body.params._meta ??= {});
  if (meta[TRACEPARENT_META_KEY] !== undefined) return;
  meta[TRACEPARENT_META_KEY] = findTraceparent(trace.getActiveSpan()) ?? traceparent;
  if (tracestate !== undefined) meta[TRACESTATE_META_KEY] ??= tracestate;
  if (baggage !== undefined) meta[BAGGAGE_META_KEY] ??= baggage;
}

interface MessageWithParams {
  readonly params: { _meta?: Record<string, unknown> };
}

/** The SDK refuses other shapes later, with the reason. */
function hasParams(body: unknown): body is MessageWithParams {
  if (!isObject(body) || !isObject(body["params"])) return false;
  const meta = body["params"]["_meta"];
  return meta === undefined || isObject(meta);
}

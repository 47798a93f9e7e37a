import {
  type Attributes,
  context,
  type Context,
  createTraceState,
  ProxyTracerProvider,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

export const tracer = trace.getTracer("pml");

/** True if an OpenTelemetry SDK is in the process; without one no spans are created. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer("pml") !== undefined;
}

/**
 * Runs a piece of work inside a span. Without an OpenTelemetry SDK in the process this costs nothing;
 * with one (`NODE_OPTIONS=--import=…`) the spans go wherever it sends them.
 */
export function traced<T>(
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  if (!isTracing()) return work();
  return tracer.startActiveSpan(name, { attributes }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.recordException(error instanceof Error ? error : String(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Carries a trace between processes: HTTP headers, or `_meta` of an MCP request. */
type TraceCarrier = Readonly<Record<string, unknown>>;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function isTraceparent(value: unknown): value is string {
  return typeof value === "string" && TRACEPARENT.test(value);
}

/**
 * Returns the context of a carrier, else the active one. Does not use the process's propagator, which may be set up for
 * other headers: MCP has the W3C form only.
 */
export function contextOf({ traceparent, tracestate }: TraceCarrier): Context {
  const [, traceId, spanId, flags] = typeof traceparent === "string" ? (TRACEPARENT.exec(traceparent) ?? []) : [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return context.active();
  return trace.setSpanContext(context.active(), {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === "string" ? { traceState: createTraceState(tracestate) } : {}),
  });
}

/** Formats the traceparent of a span; undefined if no SDK made it. */
export function findTraceparent(span: Span | undefined, parent?: Context): string | undefined {
  const made = span?.spanContext();
  if (made === undefined || !trace.isSpanContextValid(made)) return undefined;
  // without an SDK the span is its parent
  if (parent !== undefined && trace.getSpanContext(parent)?.spanId === made.spanId) return undefined;
  return `00-${made.traceId}-${made.spanId}-${made.traceFlags.toString(16).padStart(2, "0")}`;
}

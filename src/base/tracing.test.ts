import { context, trace, TraceFlags } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contextOf, findTraceparent, isTraceparent, isTracing, traced, tracer } from "./tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const carrier = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1" };

test.each([
  [carrier.traceparent, true],
  [`cc-${TRACE}-${SPAN}-00-later`, true],
  [`ff-${TRACE}-${SPAN}-01`, false],
  [`00-${TRACE}-${SPAN}`, false],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, false],
  [undefined, false],
])("isTraceparent %s: %s", (text, expected) => {
  expect(isTraceparent(text)).toBe(expected);
  expect(contextOf({ traceparent: text }) !== context.active()).toBe(expected);
});

test("without an SDK a span of a caller's trace has nothing of its own to tell", () => {
  const parent = contextOf(carrier);
  tracer.startActiveSpan("work", {}, parent, (span) => expect(findTraceparent(span, parent)).toBeUndefined());
  tracer.startActiveSpan("work", (span) => expect(findTraceparent(span)).toBeUndefined());
});

test("without an SDK nothing is traced, and work is done all the same", async () => {
  expect(isTracing()).toBe(false);
  expect(await traced("work", {}, async () => 3)).toBe(3);
});

describe("with an SDK", () => {
  const exporter = new InMemorySpanExporter();
  beforeEach(() => new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register());
  afterEach(() => {
    exporter.reset();
    trace.disable();
    context.disable();
  });

  test("traced records a span with attributes, nested ones as children, and errors", async () => {
    const work = traced("outer", { size: 3 }, () =>
      traced("inner", {}, async () => {
        throw new Error("broken");
      }),
    );
    await expect(work).rejects.toThrow("broken");
    const [inner, outer] = exporter.getFinishedSpans();
    expect(outer).toMatchObject({ name: "outer", attributes: { size: 3 }, status: { code: 2 } });
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(inner?.events[0]).toMatchObject({ name: "exception" });
  });

  test("a span of a caller's trace is its child, and the next one's parent", async () => {
    const parent = contextOf(carrier);
    let told: string | undefined;
    await traced("work", {}, async () => void (told = findTraceparent(trace.getActiveSpan(), parent)), parent);
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: TraceFlags.SAMPLED });
    expect(span?.spanContext().traceState?.serialize()).toBe("vendor=1");
    expect(told).toBe(`00-${TRACE}-${span?.spanContext().spanId}-01`);
  });
});

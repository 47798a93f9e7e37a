import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { expect, test } from "vitest";
import { traced } from "./tracing.ts";

test("traced records a span with attributes, nested ones as children, and errors", async () => {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
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

/** Loaded into a daemon with NODE_OPTIONS: an OpenTelemetry SDK that writes each span as a line to $SPANS_FILE. */
import { appendFileSync } from "node:fs";
import { NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

const file = process.env["SPANS_FILE"] ?? "";

function toRecord(span: ReadableSpan): unknown {
  const { traceId, spanId } = span.spanContext();
  return { name: span.name, traceId, spanId, parentId: span.parentSpanContext?.spanId, attributes: span.attributes };
}

const exporter = {
  export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    for (const span of spans) appendFileSync(file, `${JSON.stringify(toRecord(span))}\n`);
    done({ code: 0 });
  },
  shutdown: async (): Promise<void> => undefined,
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();

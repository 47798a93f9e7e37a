import { formatToolId } from "../../catalogue/tool-id.ts";
import { type ServerContext, TRACEPARENT_META_KEY } from "@modelcontextprotocol/server";
import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { contextOf, findTraceparent, isTracing, tracer } from "../../base/tracing.ts";
import { errorCode } from "../../gateway/error-code.ts";

export interface PassedMeta {
  readonly _meta?: Record<string, unknown>;
}

/** A call on its way through the gateway, as one span. */
export interface CallTrace {
  /** The client's metadata for the upstream server, with this span as its parent. */
  readonly meta: PassedMeta;
  /** Names the span after the target. The name is left out where it is data, as the address of a resource is. */
  readonly found: (server: string, name?: string) => void;
}

/**
 * Runs a call inside a span whose parent is the one that the request names. The span has target and outcome, never
 * arguments. Without an OpenTelemetry SDK the server gets the client's trace context unchanged.
 */
export function traceCall<T extends object>(
  method: string,
  ctx: ServerContext,
  work: (call: CallTrace) => Promise<T>,
): Promise<T> {
  const sent: Record<string, unknown> = { ...ctx.mcpReq._meta };
  if (!isTracing()) return work({ meta: passMeta(sent, undefined), found: () => undefined });
  const parent = contextOf(sent);
  const attributes = { "mcp.method.name": method, "pml.era": ctx.mcpReq.envelope === undefined ? "legacy" : "modern" };
  return tracer.startActiveSpan(method, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
    try {
      const result = await work({
        meta: passMeta(sent, findTraceparent(span, parent)),
        found: (server, name) => {
          span.setAttribute("pml.server", server);
          if (name === undefined) return;
          span.updateName(`${method} ${formatToolId(server, name)}`);
          span.setAttribute("pml.tool", name);
        },
      });
      finish(span, outcomeOf(result));
      return result;
    } catch (error) {
      finish(span, ctx.mcpReq.signal.aborted ? "cancelled" : "error", errorCode(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Passes the client's metadata on, except for the progress token, which is per hop. */
function passMeta(
  { progressToken: _hop, ...meta }: Record<string, unknown>,
  traceparent: string | undefined,
): PassedMeta {
  if (traceparent !== undefined) meta[TRACEPARENT_META_KEY] = traceparent;
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

type Outcome = "success" | "error" | "cancelled" | "input_required";

function outcomeOf(result: { readonly isError?: unknown; readonly resultType?: unknown }): Outcome {
  if (result.resultType === "input_required") return "input_required";
  return result.isError === true ? "error" : "success";
}

/** Records the kind of an error only: its text may quote arguments. */
function finish(span: Span, outcome: Outcome, errorType?: string): void {
  span.setAttribute("pml.outcome", outcome);
  if (errorType !== undefined) span.setAttribute("error.type", errorType);
  if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
}

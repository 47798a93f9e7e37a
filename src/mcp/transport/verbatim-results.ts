import type { CallToolResult, Result, Server } from "@modelcontextprotocol/server";

/**
 * The SDK reads every result of a tool through the schema of the protocol's revision: members that it does
 * not know are dropped, content of a kind that came later is an error, and large results cost time. Here it
 * gets an empty result to look at, and what the server behind the gateway said goes out as it came in.
 * A question (`input_required`) takes the SDK's way. To be called before handlers are set.
 */
export function passResultsVerbatim(server: Server): void {
  const wrap = server["_wrapHandler"].bind(server);
  server["_wrapHandler"] = (method, handler) => {
    if (method !== "tools/call") return wrap(method, handler);
    return async (request, ctx) => {
      let verbatim: Result | undefined;
      const answer = await wrap(method, async (...args) => {
        const result = await handler(...args);
        if (result["resultType"] === "input_required") return result;
        verbatim = "content" in result ? result : { ...result, ...EMPTY };
        return EMPTY;
      })(request, ctx);
      return verbatim ?? answer;
    };
  };
}

const EMPTY: CallToolResult = { content: [] };

/** Clients that read no structured content find it as text. */
export function mirrorStructured(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  const content = (result.content as CallToolResult["content"] | undefined) ?? []; // nobody has checked it
  if (structuredContent === undefined || content.some(({ type }) => type === "text")) return result;
  return { ...result, content: [...content, { type: "text", text: JSON.stringify(structuredContent) }] };
}

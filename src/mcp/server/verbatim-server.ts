import {
  type CallToolResult,
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

const EMPTY: CallToolResult = { content: [] };

/**
 * Sends the results of tools as their server wrote them. The SDK parses every result with the schema of its
 * revision, which drops members it does not know and refuses content of a later kind; so it is given an empty
 * result to check. A question (`input_required`) takes the SDK's way.
 */
export class VerbatimServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== "tools/call") return super._wrapHandler(method, handler);
    return async (request, ctx) => {
      let verbatim: Result | undefined;
      const checked = super._wrapHandler(method, async (...args) => {
        const result = await handler(...args);
        if (result["resultType"] === "input_required") return result;
        verbatim = "content" in result ? result : { ...result, ...EMPTY };
        return EMPTY;
      });
      const answer = await checked(request, ctx);
      return verbatim ?? answer;
    };
  }
}

import { formatToolId } from "../../../src/catalogue/tool-id.ts";
import type { Tool } from "@modelcontextprotocol/server";
import type { Asker } from "../../../src/registry/scope.ts";
import type { CallContext, OwnAnswer } from "../../../src/mcp/own-tools/own-tool.ts";
import type { CapabilityServer } from "../../../src/mcp/servers/capability-server.ts";

/** Named capabilities as tools. Its tools change with every capability that is learned. */
export class CapModule {
  readonly prefix = "cap";
  readonly #server: CapabilityServer;

  constructor(server: CapabilityServer) {
    this.#server = server;
  }

  listTools(asker: Asker): Promise<readonly Tool[]> {
    return this.#server.listTools(asker);
  }

  call(action: string, input: unknown, context: CallContext): Promise<OwnAnswer> {
    return this.#server.callTool(formatToolId(this.prefix, action), input, context);
  }
}

import { parseToolId } from "../../../src/catalogue/tool-id.ts";
import type { Tool } from "@modelcontextprotocol/server";
import { PmlError } from "../../../src/base/errors.ts";
import type { CallContext, OwnAnswer, OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import type { Asker, Scope } from "../../../src/registry/scope.ts";
import type { CapabilityServer } from "../../../src/mcp/servers/capability-server.ts";
import type { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import { CapModule } from "./cap.ts";
import { DnsModule, type DnsParts } from "./dns.ts";
import { LearnModule, type LearnParts } from "./learn.ts";
import { MetaModule, type MetaParts } from "./meta.ts";

export interface StdParts extends DnsParts, LearnParts, MetaParts {
  readonly scope: Scope;
  readonly capabilities: CapabilityServer;
}

/** PML's own MCP server: capabilities, the registry, introspection and learning, each under its prefix. */
export class PmlStdServer {
  readonly serverId = "pml-std";
  readonly capabilities: CapabilityServer;
  readonly cap: CapModule;
  readonly modules: readonly ToolModule[];

  constructor(parts: StdParts) {
    this.capabilities = parts.capabilities;
    this.cap = new CapModule(parts.capabilities);
    this.modules = [new DnsModule(parts), new MetaModule(parts), new LearnModule(parts)];
  }

  /** The tools with fixed names; those of capabilities come and go. */
  get tools(): readonly OwnTool[] {
    return this.modules.flatMap(({ tools }) => tools);
  }

  async listTools(asker: Asker): Promise<readonly Tool[]> {
    return [...(await this.cap.listTools(asker)), ...this.modules.flatMap((module) => module.listTools())];
  }

  async callTool(name: string, input: unknown, context: CallContext): Promise<OwnAnswer> {
    const { server: prefix, tool: action } = parseToolId(name);
    const module = [this.cap, ...this.modules].find((each) => each.prefix === prefix);
    if (module === undefined) throw new PmlError("tool_not_found", `There is no tool "${name}"`);
    return module.call(action, input, context);
  }
}

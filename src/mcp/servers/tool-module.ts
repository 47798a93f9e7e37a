import { formatToolId } from "../../catalogue/tool-id.ts";
import type { Tool } from "@modelcontextprotocol/server";
import { PmlError } from "../../base/errors.ts";
import type { CallContext, OwnAnswer, OwnTool } from "../own-tools/own-tool.ts";

/** Tools of PML that share a prefix: `dns:lookup` is the tool `lookup` of the module `dns`. */
export class ToolModule {
  readonly prefix: string;
  readonly tools: readonly OwnTool[];
  readonly #byName: ReadonlyMap<string, OwnTool>;

  constructor(prefix: string, tools: readonly OwnTool[]) {
    this.prefix = prefix;
    this.tools = tools;
    this.#byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  listTools(): readonly Tool[] {
    return this.tools.map(({ definition }) => definition);
  }

  async call(action: string, input: unknown, context: CallContext): Promise<OwnAnswer> {
    const name = formatToolId(this.prefix, action);
    const tool = this.#byName.get(name);
    if (tool === undefined) {
      throw new PmlError("tool_not_found", `There is no tool "${name}"`, {
        hint: `There are ${[...this.#byName.keys()].join(", ")}.`,
      });
    }
    return tool.call(input, context);
  }
}

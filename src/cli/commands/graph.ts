import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { drawDot, drawMermaid, drawOutline } from "../draw-graph.ts";

export const graph: Command = {
  name: "graph",
  group: "Look",
  summary: "the structure of a capability",
  examples: ["pml graph fs:read_json", "pml graph report:sum_sales --mermaid"],
  args: [{ name: "<name>", description: "the capability", completes: "record" }],
  options: [
    { flags: "--mermaid", description: "as a Mermaid flowchart" },
    { flags: "--dot", description: "for Graphviz" },
    noStartOption,
  ],
  async run(input) {
    const [name = ""] = input.args;
    const daemon = await reachDaemon(input);
    const details = await callDaemon(daemon, routes.getCapability, { query: { name } });
    const { graph: structure } = details;
    const { mermaid, dot } = input.options;
    const text = mermaid === true ? drawMermaid(structure) : dot === true ? drawDot(structure) : drawOutline(structure);
    return { data: details, text };
  },
};

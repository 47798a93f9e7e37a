import type { Client } from "@modelcontextprotocol/client";
import { EXIT } from "../../base/errors.ts";
import { taskResultPage } from "../../contract/task-result.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { withGateway } from "../gateway-client.ts";

export const result: Command = {
  name: "result",
  group: "Look",
  summary: "the whole result of one step of a run",
  examples: ["pml result 0199a1f2-… n1", "pml result 0199a1f2-… n3@l1:0"],
  args: [
    { name: "<run>", description: "the run's id" },
    { name: "<step>", description: "the step's id, as pml run-show prints it" },
  ],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const [workflow = "", task = ""] = input.args;
    const daemon = await reachDaemon(input);
    return withGateway(daemon, (client) => readWhole(client, workflow, task));
  },
};

async function readWhole(client: Client, workflow: string, task: string): Promise<Answer> {
  let whole = "";
  for (let offset: number | null = 0; offset !== null;) {
    const { content, isError } = await client.callTool({
      name: "pml_get_task_result",
      arguments: { workflow_id: workflow, task_id: task, offset },
    });
    const [about = "{}", text = ""] = content.map((block) => (block.type === "text" ? block.text : ""));
    if (isError === true) return { data: JSON.parse(about), text: about, exit: EXIT.notFound };
    whole += text;
    offset = taskResultPage.parse(JSON.parse(about)).next_offset;
  }
  return { data: parse(whole), text: whole };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

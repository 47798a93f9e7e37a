import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import type { RunView } from "../../contract/runs.ts";
import { formatPairs } from "../table.ts";

export const runShow: Command = {
  name: "run-show",
  group: "Look",
  summary: "what one run did, step by step",
  examples: ["pml run-show 0199a1f2-…", "pml run-show 0199a1f2-… --json"],
  args: [{ name: "<run>", description: "its id, as pml runs prints it" }],
  options: [noStartOption],
  async run(input) {
    const [id = ""] = input.args;
    const daemon = await reachDaemon(input);
    const details = await callDaemon(daemon, routes.getRun, { params: { id } });
    return { data: details, text: describe(details) };
  },
};

function describe(run: RunView): string {
  const { trace } = run;
  const head = formatPairs({
    run: run.id,
    state: run.approvalId === undefined ? run.state : `${run.state} (waits for ${run.approvalId})`,
    capability: `${run.capabilityName} version ${run.version}`,
    intent: run.intent,
    args: JSON.stringify(run.args),
    path: trace.path.join(" → "),
    surprise: String(run.surprise),
    ...(run.error === undefined ? { result: JSON.stringify(run.result) } : { error: run.error.message }),
    at: run.createdAt,
  });
  const steps = trace.tasks.map(({ id, tool, status, durationMs }) => `  ${id}  ${tool}  ${status}  ${durationMs} ms`);
  const decisions = trace.decisions.map(({ nodeId, loop, outcome }) => `  ${nodeId}${loop && `@${loop}`}  ${outcome}`);
  const nested = run.nested.map(({ capability, runId }) => `  ${capability}  ${runId}`);
  const logs = run.logs.map(({ level, text }) => `  [${level}] ${text}`);
  return [
    head,
    ...(steps.length === 0 ? [] : ["", "Calls", ...steps]),
    ...(decisions.length === 0 ? [] : ["", "Decisions", ...decisions]),
    ...(nested.length === 0 ? [] : ["", "Runs of capabilities", ...nested]),
    ...(logs.length === 0 ? [] : ["", "Log", ...logs]),
  ].join("\n");
}

import { EXIT } from "../base/errors.ts";
import type { ExecuteAnswer, ExecuteRequest, RunError } from "../contract/execute.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { executeOnGateway, type FromFlags } from "./ask-registry.ts";
import type { Answer } from "./command.ts";

type Outcome<Status extends ExecuteAnswer["status"]> = Extract<ExecuteAnswer, { readonly status: Status }>;

/** Runs something the way an agent does, and reports the outcome. */
export async function executeThroughGateway(
  daemon: DaemonAddress,
  request: FromFlags<ExecuteRequest>,
): Promise<Answer> {
  const executed = await executeOnGateway(daemon, request);
  return { data: executed, ...describe(executed) };
}

function describe(executed: ExecuteAnswer): Omit<Answer, "data"> {
  switch (executed.status) {
    case "success": {
      const text = JSON.stringify(executed.result, null, 2);
      return { text, notes: [...notesOf(executed), summarise(executed)], exit: EXIT.ok };
    }
    case "dry_run":
      return { text: describePlan(executed), notes: notesOf(executed), exit: EXIT.ok };
    case "approval_required":
      return { ...describeApproval(executed), exit: EXIT.needsPerson };
    case "error":
      return { text: "", notes: [...notesOf(executed), ...describeError(executed.error)], exit: EXIT.toolError };
    case "layer_complete":
      return { text: JSON.stringify(executed, null, 2), notes: notesOf(executed), exit: EXIT.ok };
    case "suggestions":
    default:
      return { text: JSON.stringify(executed, null, 2), exit: EXIT.ok };
  }
}

function notesOf({ logs = [], warnings }: Exclude<ExecuteAnswer, Outcome<"suggestions">>): string[] {
  return [...logs, ...warnings.map((text) => `! ${text}`)];
}

function describeApproval({ approval, workflowId }: Outcome<"approval_required">): Pick<Answer, "text" | "notes"> {
  const { id, url } = approval;
  return {
    text: `A person has to decide: pml approve ${id}`,
    notes: [`why: pml inbox ${id}, or look at ${url}`, `then: pml run --continue ${workflowId ?? ""}`],
  };
}

function summarise({ capabilityName, tasks = [], executionTimeMs }: Outcome<"success">): string {
  const calls = tasks.length === 1 ? "1 call" : `${tasks.length} calls`;
  return `✓ ${capabilityName ?? "done"} · ${calls} · ${Math.round(executionTimeMs)} ms`;
}

function describeError({ message, line, hint }: RunError): string[] {
  const where = line === undefined ? "" : ` (line ${line})`;
  return [`✗ ${message}${where}`, ...(hint === undefined ? [] : [`  ${hint}`])];
}

function describePlan({ plan, possible }: Outcome<"dry_run">): string {
  const calls = plan.map(
    ({ tool, args, decision, recorded }) =>
      `${decision.padEnd(7)} ${tool} ${JSON.stringify(args)}${recorded ? "  (answer known from an earlier run)" : ""}`,
  );
  const rest = possible.length === 0 ? [] : [`not reached: ${possible.join(", ")}`];
  return [...calls, ...rest].join("\n") || "It calls nothing.";
}

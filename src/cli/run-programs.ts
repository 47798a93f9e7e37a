import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { EXIT } from "../base/errors.ts";
import type { Answer } from "./command.ts";
import { withGateway } from "./gateway-client.ts";

/** What pml_execute answers, as far as it is printed. */
interface Executed {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly line?: number; readonly hint?: string };
  readonly approval?: {
    readonly id: string;
    readonly cli: string;
    readonly url: string;
    readonly reasons: readonly string[];
  };
  readonly plan?: readonly {
    readonly tool: string;
    readonly args: unknown;
    readonly decision: string;
    readonly recorded: boolean;
  }[];
  readonly possible?: readonly string[];
  readonly capabilityName?: string;
  readonly workflowId?: string;
  readonly executionTimeMs?: number;
  readonly tasks?: readonly { readonly status: string }[];
  readonly logs?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Runs something the way an agent does, and says what came of it. */
export async function executeThroughGateway(daemon: DaemonAddress, request: Record<string, unknown>): Promise<Answer> {
  const executed = await withGateway(daemon, async (client) => {
    const result = await client.callTool({ name: "pml_execute", arguments: request }, { timeout: LONGEST_RUN_MS });
    const [first] = result.content;
    return JSON.parse(first?.type === "text" ? first.text : "{}") as Executed;
  });
  return { data: executed, ...describe(executed) };
}

/** The gateway has limits of its own; this one only keeps a lost connection from hanging for ever. */
const LONGEST_RUN_MS = 60 * 60 * 1000;

function describe(executed: Executed): Omit<Answer, "data"> {
  const { status, result, error, warnings = [], logs = [] } = executed;
  const notes = [...logs, ...warnings.map((text) => `! ${text}`)];
  switch (status) {
    case "success":
      return { text: JSON.stringify(result, null, 2), notes: [...notes, summarise(executed)], exit: EXIT.ok };
    case "dry_run":
      return { text: describePlan(executed), notes, exit: EXIT.ok };
    case "approval_required":
      return { ...describeApproval(executed), exit: EXIT.needsPerson };
    case "error":
      return { text: "", notes: [...notes, ...describeError(error)], exit: EXIT.toolError };
    default:
      return { text: JSON.stringify(executed, null, 2), notes, exit: EXIT.ok };
  }
}

function describeApproval({ approval, workflowId }: Executed): Pick<Answer, "text" | "notes"> {
  if (approval === undefined) return { text: "A person has to decide: pml inbox" };
  const { cli, reasons, url } = approval;
  return {
    text: `A person has to decide: ${cli}`,
    notes: [...reasons, `or look at ${url}`, `then: pml run --continue ${workflowId ?? ""}`],
  };
}

function summarise({ capabilityName, tasks = [], executionTimeMs = 0 }: Executed): string {
  const calls = tasks.length === 1 ? "1 call" : `${tasks.length} calls`;
  return `✓ ${capabilityName ?? "done"} · ${calls} · ${Math.round(executionTimeMs)} ms`;
}

function describeError(error: Executed["error"]): string[] {
  if (error === undefined) return ["✗ it failed"];
  const where = error.line === undefined ? "" : ` (line ${error.line})`;
  return [`✗ ${error.message}${where}`, ...(error.hint === undefined ? [] : [`  ${error.hint}`])];
}

function describePlan({ plan = [], possible = [] }: Executed): string {
  const calls = plan.map(
    ({ tool, args, decision, recorded }) =>
      `${decision.padEnd(7)} ${tool} ${JSON.stringify(args)}${recorded ? "  (answer known from an earlier run)" : ""}`,
  );
  const rest = possible.length === 0 ? [] : [`not reached: ${possible.join(", ")}`];
  return [...calls, ...rest].join("\n") || "It calls nothing.";
}

import { resolveHome } from "../config/environment.ts";
import { callAsPerson } from "../daemon/daemon-client.ts";
import { readDecisionKey } from "../daemon/daemon-file.ts";
import { PmlError } from "../errors.ts";
import type { ApprovalDecision } from "../permissions/approval.ts";
import type { Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";
import type { SentDecision } from "./inbox-item.ts";

/** Gives the answer of the person at this terminal. */
export async function decide(
  input: Input,
  decision: Pick<ApprovalDecision, "decision" | "reason" | "remember">,
): Promise<SentDecision> {
  const daemon = await reachDaemon(input);
  const home = resolveHome();
  const key = readDecisionKey(home);
  if (key === undefined) {
    throw new PmlError("request_refused", `The decision key in ${home} cannot be read`, {
      hint: "Decide as the user who runs PML",
    });
  }
  const path = `/api/approvals/${encodeURIComponent(input.args[0] ?? "")}/decision`;
  return await callAsPerson<SentDecision>(daemon, key, path, { ...decision, via: "cli" });
}

import { resolveHome } from "../config/environment.ts";
import { callAsPerson } from "../daemon/daemon-client.ts";
import { readDecisionKey } from "../daemon/daemon-file.ts";
import { PmlError } from "../base/errors.ts";
import type { ApprovalDecision } from "../permissions/approval.ts";
import type { Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";
import type { SentDecision } from "./inbox-item.ts";

/** Asks the daemon for what only the person at this terminal may do. */
export async function doAsPerson<T>(input: Input, path: string, body: unknown): Promise<T> {
  const daemon = await reachDaemon(input);
  const home = resolveHome();
  const key = readDecisionKey(home);
  if (key === undefined) {
    throw new PmlError("request_refused", `The decision key in ${home} cannot be read`, {
      hint: "Decide as the user who runs PML",
    });
  }
  return await callAsPerson<T>(daemon, key, path, body);
}

export function decide(
  input: Input,
  decision: Pick<ApprovalDecision, "decision" | "reason" | "remember">,
): Promise<SentDecision> {
  const path = `/api/approvals/${encodeURIComponent(input.args[0] ?? "")}/decision`;
  return doAsPerson<SentDecision>(input, path, { ...decision, via: "cli" });
}

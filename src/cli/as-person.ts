import { resolveHome } from "../config/environment.ts";
import { callDaemon } from "../daemon/daemon-client.ts";
import { type PersonAddress, readDecisionKey } from "../daemon/daemon-file.ts";
import { PmlError } from "../base/errors.ts";
import type { Answered } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import type { Sent } from "../contract/wire.ts";
import type { Input } from "./command.ts";
import { describe as describeApproval } from "./commands/inbox.ts";
import { confirmAtTerminal } from "./confirm-at-terminal.ts";
import { reachDaemon } from "./daemon-access.ts";

/** Reaches the daemon as the person whose PML_HOME this is: with the decision key, which no client of the gateway has. */
export async function reachAsPerson(input: Input): Promise<PersonAddress> {
  const daemon = await reachDaemon(input);
  const home = resolveHome();
  const decisionKey = readDecisionKey(home);
  if (decisionKey === undefined) {
    throw new PmlError("request_refused", `The decision key in ${home} cannot be read`, {
      hint: "Decide as the user who runs PML",
    });
  }
  return { ...daemon, decisionKey };
}

type Decision = Omit<Sent<typeof routes.decideApproval.body>, "via">;

/** Shows the approval and takes the decision with a key pressed at the terminal. */
export async function decide(
  input: Input,
  question: string,
  decision: Decision,
): Promise<Answered<typeof routes.decideApproval>> {
  const [id = ""] = input.args;
  const daemon = await reachAsPerson(input);
  const approval = await callDaemon(daemon, routes.getApproval, { params: { id } });
  // the daemon says why any other one cannot be decided, which nobody has to confirm
  if (approval.state === "pending") {
    const elsewhere = `${daemon.url}/approvals/${id}`;
    await confirmAtTerminal({ shown: describeApproval(approval), question, elsewhere });
  }
  return callDaemon(daemon, routes.decideApproval, { params: { id }, body: { ...decision, via: "cli" } });
}

import { resolveHome } from "../config/environment.ts";
import { callAsPerson } from "../daemon/daemon-client.ts";
import { readDecisionKey } from "../daemon/daemon-file.ts";
import { PmlError } from "../base/errors.ts";
import type { Answered, DataRoute, RouteRequest } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import type { Sent } from "../contract/wire.ts";
import type { Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";

type PersonRoute = DataRoute & { readonly decisionKey: true };

/** Calls a route that only the person at this terminal may use. */
export async function doAsPerson<Route extends PersonRoute>(
  input: Input,
  route: Route,
  request: RouteRequest<Route>,
): Promise<Answered<Route>> {
  const daemon = await reachDaemon(input);
  const home = resolveHome();
  const key = readDecisionKey(home);
  if (key === undefined) {
    throw new PmlError("request_refused", `The decision key in ${home} cannot be read`, {
      hint: "Decide as the user who runs PML",
    });
  }
  return callAsPerson(daemon, key, route, request);
}

type Decision = Omit<Sent<typeof routes.decideApproval.body>, "via">;

export function decide(input: Input, decision: Decision): Promise<Answered<typeof routes.decideApproval>> {
  const [id = ""] = input.args;
  return doAsPerson(input, routes.decideApproval, { params: { id }, body: { ...decision, via: "cli" } });
}

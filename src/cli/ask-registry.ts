import { fromErrorReport, PmlError } from "../base/errors.ts";
import type { ExecuteAnswer, ExecuteRequest } from "../contract/execute.ts";
import type { HistoryAnswer } from "../contract/records.ts";
import type { ToolAnswer, ToolName, ToolInput } from "../contract/tools.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { PmlClient, PmlClientError } from "../sdk/pml-client.ts";
import type { CommandArgument, Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";
import { withGateway } from "./gateway-client.ts";

/** The argument of every command that is about one record. */
export const recordArgument: CommandArgument = {
  name: "<name>",
  description: "name, former name, FQDN or id; @v1, @v1.2.0 or @2025-12-22 after it",
  completes: "record",
};

/** A request made of flags: the gateway checks their values, and its refusal names the accepted ones. */
export type FromFlags<Request> = { readonly [Key in keyof Request]: unknown };

/** Asks a tool of PML, as an agent does; the tool's refusal is an error of the command. */
export async function askRegistry<Name extends ToolName>(
  input: Input,
  tool: Name,
  request: FromFlags<ToolInput<Name>>,
): Promise<ToolAnswer<Name>> {
  return askGateway(await reachDaemon(input), tool, request);
}

/** Lists the versions behind a name, the newest first. */
export async function askVersions(input: Input, name: string): Promise<HistoryAnswer["versions"]> {
  const answer = await askRegistry(input, "dns:history", { name });
  if ("versions" in answer) return answer.versions;
  throw new PmlError("internal", `The gateway did not answer with the versions of ${name}`);
}

export function askGateway<Name extends ToolName>(
  daemon: DaemonAddress,
  tool: Name,
  request: FromFlags<ToolInput<Name>>,
): Promise<ToolAnswer<Name>> {
  return withPml(daemon, (pml) => pml.ask(tool, request as ToolInput<Name>));
}

export function executeOnGateway(daemon: DaemonAddress, request: FromFlags<ExecuteRequest>): Promise<ExecuteAnswer> {
  return withPml(daemon, (pml) => pml.execute(request as ExecuteRequest));
}

function withPml<T>(daemon: DaemonAddress, work: (pml: PmlClient) => Promise<T>): Promise<T> {
  return withGateway(daemon, async (client) => {
    try {
      return await work(new PmlClient(client));
    } catch (error) {
      if (!(error instanceof PmlClientError)) throw error;
      const { code, message, hint } = error;
      throw fromErrorReport({ code, message, ...(hint === undefined ? {} : { hint }) });
    }
  });
}

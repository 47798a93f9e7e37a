import { PmlClient, PmlClientError } from "../sdk/pml-client.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { type ErrorCode, fromErrorReport } from "../base/errors.ts";
import type { CommandArgument, Input } from "./command.ts";
import { reachDaemon } from "./daemon-access.ts";
import { withGateway } from "./gateway-client.ts";

/** The argument of every command that is about one record. */
export const recordArgument: CommandArgument = {
  name: "<name>",
  description: "name, former name, FQDN or id; @v1, @v1.2.0 or @2025-12-22 after it",
  completes: "record",
};

/** Asks a tool of the standard library, as an agent does; what it refuses is an error of the command. */
export async function askRegistry<T>(input: Input, tool: string, args: Record<string, unknown>): Promise<T> {
  return askGateway<T>(await reachDaemon(input), tool, args);
}

export async function askGateway<T>(daemon: DaemonAddress, tool: string, args: Record<string, unknown>): Promise<T> {
  return withGateway(daemon, async (client) => {
    try {
      return (await new PmlClient(client).call(tool, args)) as T;
    } catch (error) {
      if (!(error instanceof PmlClientError)) throw error;
      const { code, message, hint } = error;
      throw fromErrorReport({
        code: code as ErrorCode, // one that this version does not know is taken for an internal error
        id: "",
        message,
        ...(hint === undefined ? {} : { hint }),
      });
    }
  });
}

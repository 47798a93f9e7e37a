import { z } from "zod";
import { canonical } from "../../src/base/canonical.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { ServerName, WorldState } from "./entities.ts";
import { calendarTools } from "./servers/calendar-server.ts";
import { filesTools } from "./servers/files-server.ts";
import { mailTools } from "./servers/mail-server.ts";
import { shopTools } from "./servers/shop-server.ts";
import { ticketsTools } from "./servers/tickets-server.ts";
import { WorldError, type WorldTool } from "./world-tool.ts";

const servers: { readonly [Name in ServerName]: readonly WorldTool<WorldState[Name]>[] } = {
  files: filesTools,
  mail: mailTools,
  calendar: calendarTools,
  tickets: ticketsTools,
  shop: shopTools,
};

export const SERVER_NAMES = Object.keys(servers) as readonly ServerName[];

/** A tool that is bound to nothing yet: it takes the state of its server. */
export type ServerTool = Omit<WorldTool<never>, "run"> & {
  readonly run: (state: WorldState[ServerName], input: unknown) => JsonObject;
};

export function toolsOfServer(name: ServerName): readonly ServerTool[] {
  return servers[name].map((tool) => ({
    ...tool,
    run: (state, input) => structuredClone((tool as WorldTool<WorldState[ServerName]>).run(state, input)) as JsonObject,
  }));
}

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(servers, name);
}

/** Calls a tool as a program does; what it cannot do is thrown. */
export function callWorld(state: WorldState, server: string, name: string, input: unknown): JsonValue {
  if (!isServerName(server)) throw new WorldError(`There is no server ${server}`);
  const tool = toolsOfServer(server).find((each) => each.name === name);
  if (tool === undefined) throw new WorldError(`${server} has no tool ${name}`);
  return tool.run(state[server], input);
}

/** The state as a text that is equal for equal states. */
export function describeState(state: WorldState): string {
  return canonical(state);
}

/** Turns bad input into the sentence that a tool answers with. */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof WorldError) return error.message;
  return error instanceof z.ZodError ? z.prettifyError(error) : undefined;
}

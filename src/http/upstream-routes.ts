import type { App } from "../app/app.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import type { Returned } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import type { DaemonStatus } from "../contract/status.ts";
import type { Route } from "./http-server.ts";
import { createOauthRoutes } from "./oauth-routes.ts";
import { serveData } from "./serve-route.ts";

/** Shorter than clients wait for an answer. */
const LONGEST_WAIT_MS = 20_000;

/** The servers behind the gateway, and the decisions of people about them. */
export function createUpstreamRoutes(app: App): Route[] {
  const { upstreams } = app;
  return [
    serveData(routes.listServers, () => describeServers(app)),
    serveData(routes.trustHints, async ({ body: { server, ...belief } }) => ({
      file: await app.trustHints(server, belief),
    })),
    serveData(routes.listReviews, ({ query: { subject } }) => app.listReviews(subject)),
    serveData(routes.decideReviews, ({ body }) => app.decideReviews(withoutUndefined(body))),
    serveData(routes.beginLogin, ({ body: { server } }) => upstreams.beginLogin(server)),
    serveData(routes.awaitLogin, async ({ query: { id } }) => ({
      done: await upstreams.waitForLogin(id, LONGEST_WAIT_MS),
    })),
    serveData(routes.endLogin, async ({ body: { server } }) => ({ ended: await upstreams.endLogin(server) })),
    ...createOauthRoutes(app),
  ];
}

/** Describes each server: its state, how many tools it is known to have, and which of them changed. */
function describeServers({ upstreams }: App): Returned<typeof routes.listServers> {
  const known = new Map(upstreams.known.map((server) => [server.name, server]));
  return upstreams.statuses.map((status) => {
    const server = known.get(status.name);
    const changedTools = [...(server?.flags.values() ?? [])].map(({ toolId, state, held }) => ({
      tool: toolId,
      state,
      held,
    }));
    const trustHints = server && server.entry.pml?.trustHints === true;
    const { tools, leftOut } = server?.offer ?? {};
    return { ...status, tools: tools?.length, leftOut, trustHints, changedTools };
  });
}

/** Counts the decisions about servers that wait for a person. */
export function countWaiting({ upstreams }: App): Pick<DaemonStatus, "changedTools" | "loginsNeeded"> {
  return {
    changedTools: upstreams.known.reduce((sum, { flags }) => sum + flags.size, 0),
    loginsNeeded: upstreams.statuses.filter(({ state }) => state === "login_needed").map(({ name }) => name),
  };
}

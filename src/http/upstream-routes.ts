import { z } from "zod";
import type { App } from "../app/app.ts";
import { readBody, readQuery } from "./send-answer.ts";
import { answer, type Route } from "./http-server.ts";
import { createOauthRoutes } from "./oauth-routes.ts";

const decision = z.strictObject({
  subject: z.string().min(1),
  verdict: z.enum(["accepted", "refused"]),
  hash: z.string().optional(),
});

const named = z.strictObject({ server: z.string().min(1) });
/** Shorter than what clients wait for an answer. */
const LONGEST_WAIT_MS = 20_000;

/** The servers behind the gateway, and what a person decides about them. */
export function createUpstreamRoutes(app: App): Route[] {
  return [
    {
      method: "GET",
      path: "/api/servers",
      handle: (_request, response) => answer(response, async () => describeServers(app)),
    },
    {
      method: "GET",
      path: "/api/reviews",
      handle: (request, response) => answer(response, () => app.listReviews(readQuery(request, "subject"))),
    },
    {
      method: "POST",
      path: "/api/reviews",
      handle: (request, response) =>
        answer(response, async () => {
          const { hash, ...rest } = await readBody(request, decision);
          return app.decideReviews({ ...rest, ...(hash === undefined ? {} : { hash }) });
        }),
    },
    {
      method: "POST",
      path: "/api/logins",
      handle: (request, response) =>
        answer(response, async () => app.upstreams.beginLogin((await readBody(request, named)).server)),
    },
    {
      method: "GET",
      path: "/api/logins",
      handle: (request, response) =>
        answer(response, async () => ({
          done: await app.upstreams.waitForLogin(readQuery(request, "id") ?? "", LONGEST_WAIT_MS),
        })),
    },
    {
      method: "POST",
      path: "/api/logout",
      handle: (request, response) =>
        answer(response, async () => ({
          ended: await app.upstreams.endLogin((await readBody(request, named)).server),
        })),
    },
    ...createOauthRoutes(app),
  ];
}

/** How each server is, how many tools it is known to have, connected or not, and which of them changed. */
function describeServers({ upstreams }: App): unknown[] {
  const known = new Map(upstreams.known.map((server) => [server.name, server]));
  return upstreams.statuses.map((status) => {
    const server = known.get(status.name);
    const changedTools = [...(server?.flags.values() ?? [])].map(({ toolId, state, held }) => ({
      tool: toolId,
      state,
      held,
    }));
    return { ...status, tools: server?.offer?.tools.length, changedTools };
  });
}

/** What waits for a person, in numbers. */
export function countWaiting({ upstreams }: App): { readonly changedTools: number; readonly loginsNeeded: string[] } {
  return {
    changedTools: upstreams.known.reduce((sum, { flags }) => sum + flags.size, 0),
    loginsNeeded: upstreams.statuses.filter(({ state }) => state === "login_needed").map(({ name }) => name),
  };
}

import type { z } from "zod";
import type { App } from "../app/app.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import { routes } from "../contract/routes.ts";
import type { CurationRequest } from "../naming/curation/curator.ts";
import { type Asker, OWNER } from "../registry/scope.ts";
import type { Route } from "./http-server.ts";
import { serveData } from "./serve-route.ts";

/** Names that wait for a decision, and the decisions of the person at this machine. */
export function createCurationRoutes({ curator, scope }: Pick<App, "curator" | "scope">): Route[] {
  const person: Asker = { scope, principal: OWNER };
  return [
    serveData(routes.getCuration, async () => ({
      pending: await curator.pending(scope),
      stats: await curator.stats(scope),
    })),
    serveData(routes.suggestNames, async ({ body }) => toPage(await curator.suggest(toRequest(person, body)))),
    serveData(routes.applySureNames, async ({ body }) => toPage(await curator.auto(toRequest(person, body)))),
    serveData(routes.decideNames, async ({ body: { renames, rejects } }) => {
      const { applied, failed } = await curator.apply(person, renames, "user");
      const turnedDown = await curator.reject(person, rejects, "user");
      return { applied, rejected: turnedDown.rejected, failed: [...failed, ...turnedDown.failed] };
    }),
  ];
}

function toPage<Found extends { readonly nextCursor: string | undefined }>({
  nextCursor,
  ...found
}: Found): Omit<Found, "nextCursor"> & { readonly next_cursor: string | null } {
  return { ...found, next_cursor: nextCursor ?? null };
}

function toRequest(asker: Asker, { filter, ...settings }: z.output<typeof routes.suggestNames.body>): CurationRequest {
  const { signal } = new AbortController();
  return { asker, filter: withoutUndefined(filter), signal, ...withoutUndefined(settings) };
}

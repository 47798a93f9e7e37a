import type { App } from "../app/app.ts";
import type { Returned } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import { withoutBinding } from "./approval-routes.ts";
import type { Route } from "./http-server.ts";
import { serveData } from "./serve-route.ts";

type InboxSources = Pick<App, "permissions" | "scope" | "listReviews" | "upstreams" | "curator">;
type Page = Returned<typeof routes.listInbox>;

/** The one list of everything that waits for a person. Reading it takes the token, deciding takes the key. */
export function createInboxRoutes(app: InboxSources): Route[] {
  return [
    serveData(routes.listInbox, async ({ query: { all, limit, offset } }): Promise<Page> => {
      // one more than fits tells whether there is another page
      const most = offset + limit + 1;
      const items = [...(await listApprovals(app, all === "true", most)), ...(await listOthers(app))];
      const next = items.length > offset + limit ? { next: offset + limit } : {};
      return { items: items.slice(offset, offset + limit), ...next };
    }),
  ];
}

async function listApprovals(
  { permissions, scope }: InboxSources,
  all: boolean,
  limit: number,
): Promise<Page["items"]> {
  const filter = all ? { limit } : { states: ["pending"] as const, oldestFirst: true, limit };
  return (await permissions.listApprovals(scope, filter)).map((each) => ({
    kind: "approval",
    ...withoutBinding(each),
  }));
}

async function listOthers({ listReviews, upstreams, curator, scope }: InboxSources): Promise<Page["items"]> {
  const reviews = (await listReviews()).filter(({ state }) => state !== "refused");
  const logins = upstreams.statuses.filter(({ state }) => state === "login_needed");
  const names = await curator.pending(scope);
  return [
    ...reviews.map((each) => ({ kind: "review" as const, ...each })),
    ...logins.map(({ name: server }) => ({ kind: "login" as const, server })),
    ...names.map((each) => ({ kind: "naming" as const, ...each })),
  ];
}

import type { Returned } from "../../contract/route.ts";
import type { routes } from "../../contract/routes.ts";
import type { Gateway } from "./gateway.ts";

/** Describes the clients that made calls, then the allowed ones that did not; `formsCount` is false with `auth`. */
export function describeClients(gateway: Gateway, formsCount: boolean): Returned<typeof routes.listClients> {
  const { forms: allowed } = gateway.settings.approvals;
  const seen = gateway.clients.list().map(({ name, transport, seenAt }) => {
    return { name, transport, seenAt, forms: formsCount && transport === "stdio" && allowed.includes(name) };
  });
  const known = new Set(seen.filter(({ transport }) => transport === "stdio").map(({ name }) => name));
  const unseen = allowed.filter((name) => !known.has(name)).map((name) => ({ name, forms: formsCount }));
  return [...seen, ...unseen];
}

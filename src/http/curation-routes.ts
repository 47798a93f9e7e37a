import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { App } from "../app/app.ts";
import { type Asker, OWNER } from "../registry/scope.ts";
import type { Curator } from "../naming/curation/curator.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import { readBody } from "./send-answer.ts";
import { answer, type Route } from "./http-server.ts";

const filter = z.strictObject({
  unnamedOnly: z.boolean().optional(),
  namespace: z.string().optional(),
  minUsage: z.number().int().min(0).optional(),
});

const request = z.discriminatedUnion("strategy", [
  z.strictObject({
    strategy: z.enum(["suggest", "auto"]),
    filter: filter.default({}),
    dryRun: z.boolean().optional(),
    minConfidence: z.number().min(0).max(1).optional(),
  }),
  z.strictObject({
    strategy: z.literal("apply"),
    renames: z.array(z.strictObject({ id: z.string(), name: z.string() })).default([]),
    rejects: z.array(z.string()).default([]),
  }),
]);

/** Names that wait for a decision, and the decisions of the person at this machine. */
export function createCurationRoutes({ curator, scope }: Pick<App, "curator" | "scope">): Route[] {
  const person: Asker = { scope, principal: OWNER };
  return [
    {
      method: "GET",
      path: "/api/curation",
      handle: (_request, response) =>
        answer(response, async () => ({
          pending: await curator.pending(scope),
          stats: await curator.stats(scope),
        })),
    },
    {
      method: "POST",
      path: "/api/curation",
      handle: (incoming, response) => answer(response, () => curate(curator, person, incoming)),
    },
  ];
}

async function curate(curator: Curator, person: Asker, incoming: IncomingMessage): Promise<unknown> {
  const asked = await readBody(incoming, request);
  if (asked.strategy === "apply") {
    const { applied, failed } = await curator.apply(person, asked.renames, "user");
    const turnedDown = await curator.reject(person, asked.rejects, "user");
    return { applied, rejected: turnedDown.rejected, failed: [...failed, ...turnedDown.failed] };
  }
  const { strategy, filter: wanted, ...settings } = asked;
  const { signal } = new AbortController();
  const how = { asker: person, filter: withoutUndefined(wanted), signal, ...withoutUndefined(settings) };
  return strategy === "auto" ? curator.auto(how) : curator.suggest(how);
}

import { z } from "zod";
import type { App } from "../app/app.ts";
import type { RunState } from "../execution/run-store.ts";
import { readBody, readQuery } from "./send-answer.ts";
import { answer, type Route } from "./http-server.ts";

const MOST_RUNS = 1_000;
const DEFAULT_RUNS = 20;

const program = z.strictObject({ code: z.string() });

/** What was run, and the programs behind it. */
export function createRunRoutes({ inspector, scope }: App): Route[] {
  return [
    {
      method: "GET",
      path: "/api/runs",
      handle: (request, response) =>
        answer(response, () => {
          const limit = Number(readQuery(request, "limit") ?? DEFAULT_RUNS);
          const state = readQuery(request, "state");
          return inspector.list(scope, {
            limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, MOST_RUNS) : DEFAULT_RUNS,
            ...(state === undefined ? {} : { states: [state as RunState] }),
          });
        }),
    },
    {
      method: "GET",
      path: "/api/runs/:id",
      handle: (_request, response, { id = "" }) => answer(response, () => inspector.show(scope, id)),
    },
    {
      method: "POST",
      path: "/api/runs/:id/replay",
      handle: (_request, response, { id = "" }) => answer(response, () => inspector.replay(scope, id)),
    },
    {
      method: "GET",
      path: "/api/capability",
      handle: (request, response) =>
        answer(response, () => inspector.capability(scope, readQuery(request, "name") ?? "")),
    },
    {
      method: "POST",
      path: "/api/parameters",
      handle: (request, response) =>
        answer(response, async () => inspector.parametersOf((await readBody(request, program)).code)),
    },
  ];
}

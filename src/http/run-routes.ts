import type { App } from "../app/app.ts";
import { routes } from "../contract/routes.ts";
import type { Route } from "./http-server.ts";
import { serveData } from "./serve-route.ts";

const MOST_RUNS = 1_000;

/** Runs, and the programs behind them. */
export function createRunRoutes({ inspector, scope }: App): Route[] {
  return [
    serveData(routes.listRuns, ({ query: { limit, state } }) =>
      inspector.list(scope, {
        limit: Math.min(limit, MOST_RUNS),
        ...(state === undefined ? {} : { states: [state] }),
      }),
    ),
    serveData(routes.getRun, ({ params: { id } }) => inspector.show(scope, id)),
    serveData(routes.replayRun, ({ params: { id } }) => inspector.replay(scope, id)),
    serveData(routes.getCapability, ({ query: { name } }) => inspector.capability(scope, name)),
    serveData(routes.inferParameters, ({ body: { code } }) => inspector.parametersOf(code)),
  ];
}

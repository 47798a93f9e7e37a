import type { HttpEndpoint } from "./http-endpoint.ts";
import { refuse } from "./refuse-request.ts";
import type { ToolNames } from "../../catalogue/surface.ts";

const NAMES: readonly ToolNames[] = ["portable", "canonical"];

/**
 * `/mcp` lists tools as the configuration says, `/mcp?names=…` as asked. These are endpoints of their own,
 * with sessions of their own, so that no list depends on the connection it is asked on.
 */
export function createHttpAddresses(create: (names?: ToolNames) => HttpEndpoint): HttpEndpoint {
  const configured = create();
  const named = new Map<string, HttpEndpoint>(NAMES.map((names) => [names, create(names)]));
  return {
    async handle(request, response) {
      const { url = "/" } = request;
      const names = url.includes("?") ? new URL(url, "http://gateway").searchParams.get("names") : null;
      const endpoint = names === null ? configured : named.get(names);
      if (endpoint !== undefined) return endpoint.handle(request, response);
      refuse(response, 400, `names=${names} is not known; there are ${NAMES.join(" and ")}`);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([configured, ...named.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()));
    },
  };
}

import type { HttpEndpoint } from "./http-endpoint.ts";
import { refuse } from "./refuse-request.ts";
import type { ToolNames } from "../../catalogue/surface.ts";

const NAMES: readonly ToolNames[] = ["portable", "canonical"];

/**
 * `/mcp` lists tools by the configuration, `/mcp?names=…` by the parameter. Each is an endpoint with its own sessions, so
 * that no list depends on its connection.
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

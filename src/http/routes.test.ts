import { expect, test } from "vitest";
import type { RouteContract } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import { createRoutes } from "./routes.ts";

// only a request would need it
const unused = undefined as never;

test("the server has every route of the contract with its access, and besides it only MCP and its metadata", () => {
  const app = { records: { servers: unused }, upstreams: unused } as never;
  const resourceServer = { metadata: {}, metadataPaths: ["/.well-known/oauth-protected-resource"] } as never;
  const served = createRoutes({
    app,
    endpoint: unused,
    resourceServer,
    tools: unused,
    clients: unused,
    metrics: unused,
    decisionKey: unused,
    prove: unused,
    uploads: "",
    status: unused,
    names: unused,
    stop: unused,
  }).map(({ method, path, access, decisionKey = false }) => `${method} ${path} ${access} ${decisionKey}`);
  const declared = Object.values<RouteContract>(routes).map(
    ({ method, path, access, decisionKey = false }) => `${method} ${path} ${access ?? "owner"} ${decisionKey}`,
  );
  const others = ["* /mcp principals false", "GET /.well-known/oauth-protected-resource public false"];
  expect(served.toSorted()).toEqual([...declared, ...others].toSorted());
});

import { expect, test } from "vitest";
import { describeApi } from "./openapi.ts";
import { fillPath, type RouteContract } from "./route.ts";
import { API, routes } from "./routes.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const document = JSON.parse(JSON.stringify(describeApi())) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("the description has every route once, under the name that the table has for it", () => {
  const described = operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`);
  const declared = Object.entries<RouteContract>(routes).map(
    ([name, { method, path }]) => `${name} ${method.toLowerCase()} ${path.replace(/:([a-z]+)/g, "{$1}")}`,
  );
  expect(described.toSorted()).toEqual(declared.toSorted());
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

test("all references resolve, and every component is referred to", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
    ([, reference = ""]) => reference,
  );
  const components = Object.entries(document.components).flatMap(([kind, entries]) =>
    Object.keys(entries).map((name) => `#/components/${kind}/${name}`),
  );
  const used = components.filter((name) => !name.startsWith("#/components/securitySchemes/"));
  expect([...new Set(references)].toSorted()).toEqual(used.toSorted());
});

test("parameters, bodies, responses and security are as OpenAPI 3.1 wants them", () => {
  expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "PML", version: expect.any(String) } });
  for (const { path, method, operation } of operations) {
    const { parameters = [], responses, requestBody, security = [] } = operation;
    const inPath = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name);
    const declared = parameters.filter((each) => each.in === "path");
    expect(declared.map(({ name }) => name)).toEqual(inPath);
    expect(declared.every(({ required }) => required === true)).toBe(true);
    expect(new Set(parameters.map((each) => `${each.in} ${each.name}`)).size).toBe(parameters.length);
    expect(method === "get" && requestBody !== undefined).toBe(false);
    const statuses = Object.keys(responses);
    expect(statuses.every((status) => /^[1-5]\d\d$/.test(status))).toBe(true);
    expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
    expect(Object.values(responses).every(({ $ref, description }) => ($ref ?? description) !== undefined)).toBe(true);
    for (const name of security.flatMap((each) => Object.keys(each)))
      expect(document.components["securitySchemes"]).toHaveProperty(name);
  }
});

test("schemas are JSON Schema without what OpenAPI has no place for", () => {
  const text = JSON.stringify(document);
  for (const leftover of ['"$defs"', '"$schema"', "__schema"]) expect(text).not.toContain(leftover);
});

test("only routes of the API have its version in their path, and all of those do", () => {
  const paths = Object.values<RouteContract>(routes).map(({ path }) => path);
  expect(paths.filter((path) => path.startsWith("/api/")).every((path) => path.startsWith(`${API}/`))).toBe(true);
});

test("fillPath encodes each parameter", () => {
  expect(fillPath(routes.decideApproval.path, { id: "a/b c" })).toBe(`${API}/approvals/a%2Fb%20c/decision`);
});

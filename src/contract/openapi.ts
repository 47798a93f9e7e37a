import { z } from "zod";
import { version } from "../base/package-info.ts";
import { httpFailure } from "./error.ts";
import type { RouteContract } from "./route.ts";
import { routes } from "./routes.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Describes every route of the contract, in OpenAPI 3.1. */
export function describeApi(): Schema {
  const components = new Map<string, Schema>();
  const toSchema = (schema: z.ZodType): Schema =>
    hoist(z.toJSONSchema(schema, { io: "input", override: ({ jsonSchema }) => shorten(jsonSchema) }), components);
  const failure = { "application/json": { schema: toSchema(httpFailure) } };
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [name, route] of Object.entries<RouteContract>(routes)) {
    const path = route.path.replace(/:([a-z]+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = describeRoute(name, route, toSchema);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "PML",
      version,
      description:
        "The HTTP interface of a PML gateway. MCP is served at /mcp. A person's decisions take the decision key besides the token.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "http://127.0.0.1:7650", description: "A gateway on this machine" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The content of $PML_HOME/token." },
        decisionKey: {
          type: "apiKey",
          in: "header",
          name: "X-PML-Decision-Key",
          description: "The content of $PML_HOME/decision-key.",
        },
      },
      responses: Object.fromEntries(
        Object.entries(FAILURES).map(([name, description]) => [name, { description, content: failure }]),
      ),
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

type ToSchema = (schema: z.ZodType) => Schema;

function describeRoute(operationId: string, route: RouteContract, toSchema: ToSchema): Schema {
  const { summary, body, access, decisionKey } = route;
  const parameters = [...describePath(route), ...describeQuery(route, toSchema)];
  return {
    operationId,
    summary,
    tags: [tagOf(route)],
    ...(access === "public" ? { security: [] } : {}),
    ...(decisionKey === true ? { security: [{ token: [], decisionKey: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: describeBody(body, toSchema) } }),
    responses: {
      [route.status ?? 200]: { description: "Success", content: describeAnswer(route, toSchema) },
      ...describeFailures(route),
    },
  };
}

/** The first word of the path after the version: `runs`, `registry`. */
function tagOf({ path }: RouteContract): string {
  const [first = "", , third = ""] = path.split("/").slice(1);
  return first === "api" ? third : first;
}

function describePath({ path }: RouteContract): Schema[] {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function describeQuery({ query }: RouteContract, toSchema: ToSchema): Schema[] {
  return Object.entries(query?.shape ?? {}).map(([name, part]) => {
    const { description, ...schema } = toSchema(part as z.ZodType);
    return { name, in: "query", ...(description === undefined ? {} : { description }), schema };
  });
}

function describeBody(body: z.ZodType | string, toSchema: ToSchema): Schema {
  return typeof body === "string" ? { [body]: {} } : { "application/json": { schema: toSchema(body) } };
}

function describeAnswer({ answer }: RouteContract, toSchema: ToSchema): Schema {
  if (answer.kind === "text") return { [answer.mediaType]: { schema: { type: "string" } } };
  const schema = answer.kind === "data" ? z.object({ ok: z.literal(true), data: answer.schema }) : answer.schema;
  return { "application/json": { schema: toSchema(schema) } };
}

/** Failures that many routes share, as components. */
const FAILURES = {
  NoToken: "The token is missing or wrong.",
  Refused: "Host, Origin or the decision key was refused, or the body is too large.",
  Failed: "It failed for a reason the caller can act on.",
  Internal: "It failed for another reason; the log of the daemon has it.",
};

function describeFailures({ access, answer, failures = {} }: RouteContract): Schema {
  const shared: Readonly<Record<string, keyof typeof FAILURES>> = {
    ...(access === "public" ? {} : { 401: "NoToken" as const }),
    403: "Refused",
    ...(answer.kind === "data" ? { 409: "Failed" as const } : {}),
    500: "Internal",
  };
  const own = Object.entries(failures).map(([status, description]) => [
    status,
    { description, content: describeFailure(answer) },
  ]);
  const common = Object.entries(shared).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]);
  return Object.fromEntries([...common, ...own]) as Schema;
}

/** A page fails as a page. */
function describeFailure(answer: RouteContract["answer"]): Schema {
  if (answer.kind === "text" && answer.mediaType === "text/html")
    return { "text/html": { schema: { type: "string" } } };
  return { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } };
}

/** Drops the pattern of a format, which says the same at length. */
function shorten(schema: { pattern?: string; format?: string }): void {
  if (schema.format !== undefined) delete schema.pattern;
}

/** Moves named definitions to the components, and points the references there. */
function hoist(schema: object, components: Map<string, Schema>): Schema {
  const moved = JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema;
  const { $defs = {}, $schema: _dialect, ...rest } = moved;
  for (const [name, definition] of Object.entries($defs as Readonly<Record<string, Schema>>)) {
    const { id: _name, ...content } = definition;
    components.set(name, content);
  }
  const { id, ...content } = rest;
  if (typeof id !== "string") return rest;
  components.set(id, content);
  return { $ref: `#/components/schemas/${id}` };
}

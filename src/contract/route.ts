import type { z } from "zod";
import type { Received, Sent, Serialisable } from "./wire.ts";

/** The form of an answer: `data` in `{ok: true, data}`, a JSON document as it is, or text of a media type. */
type RouteAnswer =
  | { readonly kind: "data"; readonly schema: z.ZodType }
  | { readonly kind: "document"; readonly schema: z.ZodType }
  | { readonly kind: "text"; readonly mediaType: string };

/** One HTTP route: the server implements it, the command line calls it, the reference describes it. */
export interface RouteContract {
  readonly method: "GET" | "POST";
  /** `/things/:id` has the parameter `id`. */
  readonly path: string;
  readonly summary: string;
  /** Left out: it takes the token of the owner. */
  readonly access?: "public";
  /** Only a person may use it, who proves it with the decision key. */
  readonly decisionKey?: true;
  readonly query?: z.ZodObject;
  /** A media type stands for a body that is not JSON. */
  readonly body?: z.ZodType | string;
  readonly answer: RouteAnswer;
  /** The status of success; 200 by default. */
  readonly status?: number;
  /** Statuses of failures besides those of every route of its kind, with their reasons. */
  readonly failures?: Readonly<Record<number, string>>;
}

type DataAnswer = { readonly kind: "data"; readonly schema: z.ZodType };
type DocumentAnswer = { readonly kind: "document"; readonly schema: z.ZodType };

export type DataRoute = RouteContract & { readonly answer: DataAnswer };
export type DocumentRoute = RouteContract & { readonly answer: DocumentAnswer };
export type TextRoute = RouteContract & { readonly answer: Extract<RouteAnswer, { readonly kind: "text" }> };

export function data<Schema extends z.ZodType>(schema: Schema) {
  return { kind: "data", schema } as const;
}

export function document<Schema extends z.ZodType>(schema: Schema) {
  return { kind: "document", schema } as const;
}

/** The names of the parameters in a path. */
type ParameterOf<Path extends string> = Path extends `${infer Part}/${infer Rest}`
  ? ParameterOf<Part> | ParameterOf<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

type PathParameters<Route extends RouteContract> = Readonly<Record<ParameterOf<Route["path"]>, string>>;

type Query<Route extends RouteContract> = Route extends { readonly query: infer Schema extends z.ZodObject }
  ? Schema
  : z.ZodUndefined;
type Body<Route extends RouteContract> = Route extends { readonly body: infer Schema extends z.ZodType }
  ? Schema
  : z.ZodUndefined;

/** A request of the route as its handler gets it, parsed. */
export interface RouteInput<Route extends RouteContract> {
  readonly params: PathParameters<Route>;
  readonly query: z.output<Query<Route>>;
  readonly body: z.output<Body<Route>>;
}

type Parameters<Route extends RouteContract> = [ParameterOf<Route["path"]>] extends [never]
  ? { readonly params?: never }
  : { readonly params: PathParameters<Route> };
type QueryPart<Route extends RouteContract> = Route extends { readonly query: infer Schema extends z.ZodObject }
  ? Partial<Sent<Schema>> extends Sent<Schema>
    ? { readonly query?: Sent<Schema> }
    : { readonly query: Sent<Schema> }
  : { readonly query?: never };
type BodyPart<Route extends RouteContract> = Route extends { readonly body: infer Schema extends z.ZodType }
  ? { readonly body: Sent<Schema> }
  : { readonly body?: never };

/** A request of the route as its caller writes it. */
export type RouteRequest<Route extends RouteContract> = Parameters<Route> & QueryPart<Route> & BodyPart<Route>;

/** A value of the route as its handler returns it, and as its caller receives it. */
export type Returned<Route extends DataRoute | DocumentRoute> = Serialisable<z.input<Route["answer"]["schema"]>>;
export type Answered<Route extends DataRoute | DocumentRoute> = Received<Route["answer"]["schema"]>;

/** Carries the decision key of a person. */
export const DECISION_KEY_HEADER = "x-pml-decision-key";

/** `/things/a%20b` for `/things/:id`. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z]+)/g, (_parameter, name: string) => encodeURIComponent(params[name] ?? ""));
}

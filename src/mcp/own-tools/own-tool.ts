import type { ContentBlock, Progress, Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Asker, OWNER, type Scope } from "../../registry/scope.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Ask } from "../../upstream/active-calls.ts";
import type { JsonObject } from "../../base/json.ts";
import { invalidArguments } from "./invalid-arguments.ts";
import { slimSchema } from "./slim-schema.ts";

/** Who calls, and how to reach them while the call runs. */
export interface CallContext {
  /** The program that calls, as it named itself. */
  readonly client: string | undefined;
  /** Whom it acts for, where callers are told apart. */
  readonly principal: string | undefined;
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
  /** Puts a question before a person; only where the client can. */
  readonly ask?: Ask;
  /** Asks the client's own model; only where it lends one. */
  readonly sample?: Ask;
  /** What the client sent along, trace context included; to be passed on. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** Converts the caller to the registry's asker. */
export function askerOf(scope: Scope, { principal = OWNER, client }: Pick<CallContext, "principal" | "client">): Asker {
  return { scope, principal, client };
}

export type OwnAnswer =
  /** Goes out as text and as structured content. */
  | { readonly kind: "json"; readonly value: Readonly<Record<string, unknown>>; readonly failed?: true }
  /** Goes out as it is, however large: for what would only get longer as JSON. */
  | {
      readonly kind: "content";
      readonly content: readonly ContentBlock[];
      readonly failed?: true;
      readonly meta?: Readonly<Record<string, JsonValue>>;
    }
  /** The result of a program: as text, and where it is an object as structured content. */
  | { readonly kind: "value"; readonly value: JsonValue; readonly meta: Readonly<Record<string, JsonValue>> };

export interface OwnToolSpec<Input extends z.ZodObject> {
  /** As it is called and stored; in a wire name a colon becomes two underscores. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly annotations: ToolAnnotations;
  /** Hints for particular clients. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** What it throws is answered as an error; a PmlError says what to do about it. */
  run(input: z.output<Input>, context: CallContext): OwnAnswer | Promise<OwnAnswer>;
}

/** A tool that PML itself serves. */
export interface OwnTool {
  readonly definition: Tool;
  call(input: unknown, context: CallContext): Promise<OwnAnswer>;
}

/** The schema of the input is what clients see, what calls are checked against, and the type that `run` gets. */
export function defineTool<Input extends z.ZodObject>(spec: OwnToolSpec<Input>): OwnTool {
  const { name, title, description, input, annotations, meta } = spec;
  const inputSchema = slimSchema(z.toJSONSchema(input, { io: "input" }) as JsonObject);
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: inputSchema as unknown as Tool["inputSchema"],
      annotations,
      ...(meta === undefined ? {} : { _meta: meta }),
    },
    async call(values, context) {
      const parsed = input.safeParse(values ?? {});
      if (!parsed.success) throw invalidArguments(name, values, { issues: parsed.error.issues, schema: inputSchema });
      return spec.run(parsed.data, context);
    },
  };
}

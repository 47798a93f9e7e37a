import type { ContentBlock, Progress, Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { toolFailure } from "../../contract/error.ts";
import type { Sent } from "../../contract/wire.ts";
import { type Asker, OWNER, type Scope } from "../../registry/scope.ts";
import type { Ask } from "../../upstream/active-calls.ts";
import { invalidArguments } from "./invalid-arguments.ts";
import { slimSchema } from "./slim-schema.ts";

/** The caller of a tool, and the ways to reach it while the call runs. */
export interface CallContext {
  /** The name that the calling program gave itself. */
  readonly client: string | undefined;
  /** The principal that the program acts for; undefined where callers are not told apart. */
  readonly principal: string | undefined;
  /** True for a principal that may change what others made. */
  readonly admin?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
  /** Puts a question of a server before a person; absent where the client cannot. */
  readonly ask?: Ask;
  /** Puts an approval before a person; absent where no form of this client counts. */
  readonly form?: Ask;
  /** Asks the client's own model; absent where it lends none. */
  readonly sample?: Ask;
  /** Metadata of the request, trace context included; to be passed on. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** Converts the caller to the registry's asker. */
export function askerOf(scope: Scope, context: Pick<CallContext, "principal" | "admin" | "client">): Asker {
  const { principal = OWNER, admin, client } = context;
  return { scope, principal, admin, client };
}

type Structured = Readonly<Record<string, unknown>>;

export type OwnAnswer<Value = Structured> =
  /** Goes out as text and as structured content. */
  | { readonly kind: "json"; readonly value: Value; readonly failed?: true }
  /** Goes out as it is, however large: for content that would only get longer as JSON. */
  | {
      readonly kind: "content";
      readonly content: readonly ContentBlock[];
      readonly failed?: true;
      readonly meta?: Readonly<Record<string, JsonValue>>;
    }
  /** The result of a program: goes out as text, and as structured content where it is an object. */
  | { readonly kind: "value"; readonly value: JsonValue; readonly meta: Readonly<Record<string, JsonValue>> };

export interface OwnToolSpec<Input extends z.ZodObject, Answer extends z.ZodType> {
  /** The canonical name; in a wire name a colon becomes two underscores. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** The schema of `json` answers; a tool that answers content has one of its own. */
  readonly answer?: Answer;
  readonly annotations: ToolAnnotations;
  /** Hints for particular clients. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Computes the answer. The caller sees whatever it throws as an error; a PmlError says what to do about it. */
  run(input: z.output<Input>, context: CallContext): OwnAnswer<Sent<Answer>> | Promise<OwnAnswer<Sent<Answer>>>;
}

/** A tool that PML itself serves. */
export interface OwnTool {
  /** The listed definition; its output schema is apart, since most lists leave it out. */
  readonly definition: Tool;
  /** Holds for every `json` answer, failures included; undefined for a tool that answers content. */
  outputSchema?(): Tool["outputSchema"];
  call(input: unknown, context: CallContext): Promise<OwnAnswer>;
}

/** Makes a tool of a contract: its input schema is listed, checks calls, and types the arguments of `run`. */
export function defineTool<Input extends z.ZodObject, Answer extends z.ZodType = z.ZodType<Structured, Structured>>(
  spec: OwnToolSpec<Input, Answer>,
): OwnTool {
  const { name, title, description, input, answer, annotations, meta } = spec;
  const inputSchema = slimSchema(z.toJSONSchema(input, { io: "input" }) as JsonObject);
  return {
    ...(answer === undefined ? {} : { outputSchema: once(() => toOutputSchema(answer)) }),
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
      return (await spec.run(parsed.data, context)) as OwnAnswer;
    },
  };
}

/** The definition as a list shows it. Agents pay for every word of a list, so only the full one has output schemas. */
export function listedDefinition(tool: OwnTool, { exposure }: { readonly exposure: string }): Tool {
  const outputSchema = exposure === "full" ? tool.outputSchema?.() : undefined;
  return outputSchema === undefined ? tool.definition : { ...tool.definition, outputSchema };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The answer or a failure: clients check failures against the listed schema, too. */
function toOutputSchema(answer: z.ZodType): Tool["outputSchema"] {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(z.union([answer, toolFailure]), { io: "input" });
  return { ...schema, type: "object" };
}

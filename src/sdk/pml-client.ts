import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { DiscoverAnswer, DiscoverRequest } from "../contract/discover.ts";
import type { ExecuteAnswer, ExecuteRequest } from "../contract/execute.ts";
import type { HistoryAnswer, LookupAnswer, QueryAnswer, QueryRequest, WhoisAnswer } from "../contract/records.ts";
import type { ToolAnswer, ToolName, ToolInput } from "../contract/tools.ts";

export type { DiscoverAnswer, DiscoverRequest } from "../contract/discover.ts";
export type { ExecuteAnswer, ExecuteRequest } from "../contract/execute.ts";
export type {
  HistoryAnswer,
  LookupAnswer,
  QueryAnswer,
  QueryRequest,
  VersionAnswer,
  VersionChanges,
  WhoisAnswer,
} from "../contract/records.ts";
export type { Visibility } from "../registry/record-words.ts";
export type { ToolAnswer, ToolName, ToolInput } from "../contract/tools.ts";

/** The way to a gateway: an address with its token, or a program that speaks MCP on its standard streams. */
export type PmlConnection =
  | { readonly url: string; readonly token?: string }
  | { readonly command: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; an hour by default, since the gateway has limits of its own. */
  readonly timeout?: number;
}

/** A failure that the gateway answered instead of a result. */
export class PmlClientError extends Error {
  override readonly name = "PmlClientError";
  /** A code of docs/reference/errors.md, or that of the tool that failed. */
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Matches the canonical and the listed name of a capability; a server may be called `capture`. */
const CAPABILITY_NAME = /^cap(?::|__)/;
const LONGEST_CALL_MS = 60 * 60 * 1000;

/**
 * PML from a program: names, versions, calls and searches, over MCP as agents use it. Answers are not checked
 * here: the gateway's own tests hold it to the same contract, and a newer one may add to it.
 */
export class PmlClient implements AsyncDisposable {
  /** The connection, for requests that have no method here. */
  readonly mcp: Client;

  constructor(mcp: Client) {
    this.mcp = mcp;
  }

  /** Looks a name up: `fs:read_json`, `fs:read_json@v1`, `mcp:filesystem`, an FQDN. */
  lookup(name: string): Promise<LookupAnswer> {
    return this.ask("dns:lookup", { name });
  }

  query(request: QueryRequest = {}): Promise<QueryAnswer> {
    return this.ask("dns:query", request);
  }

  async history(name: string): Promise<HistoryAnswer> {
    const answer = await this.ask("dns:history", { name });
    if ("versions" in answer) return answer;
    throw new PmlClientError("internal", `The gateway did not answer with the versions of ${name}`);
  }

  whois(fqdn: string): Promise<WhoisAnswer> {
    return this.ask("dns:whois", { fqdn });
  }

  /** Calls `cap:fs:read_json` or `server:tool` and returns its result; a failure is thrown. */
  async call(name: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<unknown> {
    const result = await this.#callTool(name, args, options);
    if (result.isError === true) throw toError(result);
    // Structured content is an object, so other results of capabilities are wrapped there and not in the text.
    return CAPABILITY_NAME.test(name) ? unwrap({ ...result, structuredContent: undefined }) : unwrap(result);
  }

  /** Runs a program or a capability. Its failure is an answer with `status: "error"`. */
  async execute(request: ExecuteRequest, options: CallOptions = {}): Promise<ExecuteAnswer> {
    const result = await this.#callTool("pml_execute", request, options);
    const answer = unwrap(result);
    if (!isObject(answer) || typeof answer["status"] !== "string") throw toError(result);
    return answer as ExecuteAnswer;
  }

  discover(intent: string, request: DiscoverRequest = {}): Promise<DiscoverAnswer> {
    return this.ask("pml_discover", { intent, ...request });
  }

  /** Calls a tool of PML itself; a failure is thrown. */
  async ask<Name extends ToolName>(name: Name, request: ToolInput<Name>): Promise<ToolAnswer<Name>> {
    return (await this.call(name, { ...request })) as ToolAnswer<Name>;
  }

  close(): Promise<void> {
    return this.mcp.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #callTool(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallToolResult> {
    return this.mcp.callTool({ name, arguments: { ...args } }, { timeout: LONGEST_CALL_MS, ...options });
  }
}

/** Connects to a gateway; `close()`, or the end of an `await using` scope, closes the connection. */
export async function connectPml(connection: PmlConnection): Promise<PmlClient> {
  const mcp = new Client({ name: "pml-client", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await mcp.connect("url" in connection ? overHttp(connection) : overStdio(connection));
  return new PmlClient(mcp);
}

function overHttp({ url, token }: Extract<PmlConnection, { url: string }>): StreamableHTTPClientTransport {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

function overStdio({ command, args, env }: Extract<PmlConnection, { command: string }>): StdioClientTransport {
  return new StdioClientTransport({
    command,
    args: [...(args ?? [])],
    ...(env === undefined ? {} : { env: { ...env } }),
    stderr: "inherit",
  });
}

/** Takes the structured content, else the JSON in the text, else the text, else the list of contents. */
function unwrap({ structuredContent, content }: Pick<CallToolResult, "content" | "structuredContent">): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [first] = content;
  if (content.length !== 1 || first?.type !== "text") return content;
  try {
    return JSON.parse(first.text) as unknown;
  } catch {
    return first.text; // plain text is an answer too
  }
}

function toError(result: CallToolResult): PmlClientError {
  const meta = result._meta?.["dev.pml/error"];
  const answer = unwrap(result);
  const report = isObject(meta) ? meta : isObject(answer) && isObject(answer["error"]) ? answer["error"] : undefined;
  if (report === undefined)
    return new PmlClientError("tool_error", typeof answer === "string" ? answer : JSON.stringify(answer));
  const { code, message, hint } = report;
  return new PmlClientError(String(code), String(message), typeof hint === "string" ? hint : undefined);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

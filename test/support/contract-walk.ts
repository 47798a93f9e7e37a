import type { Client } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { z } from "zod";
import { httpFailure, toolFailure } from "../../src/contract/error.ts";
import { DECISION_KEY_HEADER, fillPath, type RouteContract } from "../../src/contract/route.ts";
import { routes } from "../../src/contract/routes.ts";
import { type ToolName, tools } from "../../src/contract/tools.ts";
import type { PersonAddress } from "../../src/daemon/daemon-file.ts";

export type RouteName = keyof typeof routes;

interface WalkedRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The expected status; the one of success if left out. */
  readonly status?: number;
}

/** Parses with the schema and fails for a field that the schema does not have. */
function parseStrictly(schema: z.ZodType, value: unknown): void {
  const parsed = schema.safeParse(value);
  expect(parsed.error?.issues ?? []).toEqual([]);
  expect(parsed.data).toEqual(value);
}

function expectSame(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

function expectDeclared({ failures = {} }: RouteContract, status: number): void {
  expect([...Object.keys(failures).map(Number), 401, 403, 409]).toContain(status);
}

/** Calls routes and tools of a live daemon, holds each answer to the contract, and remembers what it has called. */
export class ContractWalk {
  readonly seenRoutes = new Set<RouteName>();
  readonly seenTools = new Set<ToolName>();
  readonly #address: PersonAddress;
  readonly #client: Client;

  constructor(address: PersonAddress, client: Client) {
    this.#address = address;
    this.#client = client;
  }

  /** Returns the data, document or text of the answer. A route that decides must refuse the token alone first. */
  async route<T = unknown>(name: RouteName, request: WalkedRequest = {}): Promise<T> {
    const contract: RouteContract = routes[name];
    if (contract.decisionKey === true) await this.#expectRefusal(contract, request);
    const response = await this.#send(contract, request, { [DECISION_KEY_HEADER]: this.#address.decisionKey });
    const text = await response.text();
    const wanted = request.status ?? contract.status ?? 200;
    if (response.status !== wanted) throw new Error(`${name} answers ${response.status}: ${text}`);
    const success = contract.status ?? 200;
    this.seenRoutes.add(name);
    if (wanted === success) return readSuccess(contract, response, text) as T;
    expectDeclared(contract, wanted);
    if (contract.answer.kind === "text" && contract.answer.mediaType === "text/html") return text as T;
    const failure = JSON.parse(text) as unknown;
    parseStrictly(httpFailure, failure);
    return failure as T;
  }

  /** Returns the answer, also one that reports a failure. */
  async tool<T = Record<string, unknown>>(name: ToolName, input: Record<string, unknown>): Promise<T> {
    const { content, structuredContent, isError } = await this.#client.callTool({ name, arguments: input });
    const [first] = content;
    const value = JSON.parse(first?.type === "text" ? first.text : "null") as Record<string, unknown>;
    if (name !== "pml_get_task_result") expectSame(structuredContent, value);
    const { answer } = tools[name];
    const isRefusal = isError === true && !answer.safeParse(value).success;
    parseStrictly(isRefusal ? toolFailure : answer, value);
    if (!isRefusal) this.seenTools.add(name);
    return value as T;
  }

  async #expectRefusal(contract: RouteContract, request: WalkedRequest): Promise<void> {
    const { status } = await this.#send(contract, request, {});
    if (status !== 403) throw new Error(`${contract.path} answers ${status} to the token alone`);
  }

  #send(
    { method, path, body: declared }: RouteContract,
    request: WalkedRequest,
    proof: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { params = {}, query = {}, body } = request;
    const url = new URL(fillPath(path, params), this.#address.url);
    url.search = new URLSearchParams(query).toString();
    const type = typeof declared === "string" ? declared : "application/json";
    return fetch(url, {
      method,
      headers: { Authorization: `Bearer ${this.#address.token}`, "Content-Type": type, ...proof },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }
}

function readSuccess({ answer }: RouteContract, response: Response, text: string): unknown {
  if (answer.kind === "text") {
    expect(response.headers.get("Content-Type")).toMatch(new RegExp(`^${answer.mediaType}\\b`));
    return text;
  }
  const value = JSON.parse(text) as { ok?: unknown; data?: unknown };
  if (answer.kind === "data") expect({ ...value, data: "…" }).toEqual({ ok: true, data: "…" });
  const content = answer.kind === "data" ? value.data : value;
  parseStrictly(answer.schema, content);
  return content;
}

import type { Client } from "@modelcontextprotocol/client";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
} from "@modelcontextprotocol/client";
import { keepListening } from "./listen-stream.ts";

/**
 * What a request carries in the current protocol only. A server of the 2025 era learns nothing of it:
 * its questions come in the middle of the call, and what the client cannot answer is refused there.
 */
export interface CurrentParams {
  /** Of the client that the request is made for; the server then asks only what that client can answer. */
  readonly capabilities?: ClientCapabilities;
  /** Left out: the client wants no log messages. */
  readonly logLevel?: LoggingLevel;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  /** Of the HTTP request, where it is one. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdaptedRequest {
  readonly params: Record<string, unknown>;
  readonly options: { readonly headers?: Readonly<Record<string, string>> };
}

/** The request as it goes to a server of its era. */
export function adaptRequest(client: Client, params: Record<string, unknown>, current: CurrentParams): AdaptedRequest {
  if (!isModern(client)) return { params, options: {} };
  const { headers } = current;
  return { params: addCurrentParams(params, current), options: headers === undefined ? {} : { headers } };
}

function addCurrentParams(
  params: Record<string, unknown>,
  { capabilities, logLevel, inputResponses, requestState }: CurrentParams,
): Record<string, unknown> {
  const meta = {
    ...(params["_meta"] as Record<string, unknown> | undefined),
    ...(capabilities === undefined ? {} : { [CLIENT_CAPABILITIES_META_KEY]: capabilities }),
    ...(logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
  };
  return {
    ...params,
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
}

export function isModern(client: Client): boolean {
  return client.getProtocolEra() === "modern";
}

/** In the current protocol changes are told only to those who asked. A server that refuses is used as it is. */
export async function listenForChanges(client: Client, onReopened: () => void): Promise<void> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
  };
  if (Object.keys(filter).length > 0) await keepListening(client, filter, onReopened).catch(() => undefined);
}

import type { Client } from "@modelcontextprotocol/client";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
} from "@modelcontextprotocol/client";
import { keepListening } from "./listen-stream.ts";

/**
 * Parameters of a request that only the current protocol has. A server of the 2025 era does not get them: it asks during the
 * call, and questions that the client cannot answer are refused there.
 */
export interface CurrentParams {
  /** The client's capabilities; the server asks only questions that the client can answer. */
  readonly capabilities?: ClientCapabilities;
  /** Absent if the client wants no log messages. */
  readonly logLevel?: LoggingLevel;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  /** Headers of an HTTP request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdaptedRequest {
  readonly params: Record<string, unknown>;
  readonly options: { readonly headers?: Readonly<Record<string, string>> };
}

/** Adapts a request to the era of the server. */
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

/** Subscribes to changes, which the current protocol sends only on request. A server that refuses is used without. */
export async function listenForChanges(client: Client, onReopened: () => void): Promise<void> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const filter = {
    ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
  };
  if (Object.keys(filter).length > 0) await keepListening(client, filter, onReopened).catch(() => undefined);
}

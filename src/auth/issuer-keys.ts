import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from "jose";
import { isSecureUrl } from "../config/edge-schema.ts";

/** A token cannot be verified now: the keys of its issuer cannot be fetched. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Found through the issuer's metadata if undefined. */
  readonly jwksUrl: string | undefined;
  /** Called once per failed fetch. */
  readonly onFailure: (reason: string) => void;
}

/** Back-off after every fetch, successful or not, whatever tokens arrive. */
const PAUSE_MS = 5_000;
const FETCH_LIMIT_MS = 5_000;

/** Caches the keys of an issuer: fetches them on first use, again after ten minutes, and for an unknown key. */
export function createIssuerKeys({ issuer, jwksUrl, onFailure }: IssuerKeysOptions): JWTVerifyGetKey {
  let failure: { readonly at: number; readonly cause: unknown } | undefined;
  const fetchUnlessPaused = async (url: string, init: RequestInit): Promise<Response> => {
    if (failure !== undefined && performance.now() < failure.at + PAUSE_MS) throw failure.cause;
    return fetch(url, { signal: AbortSignal.timeout(FETCH_LIMIT_MS), ...init });
  };
  const open = async (): Promise<RemoteJWKSet> => {
    const url = jwksUrl ?? (await discoverJwksUrl(issuer, fetchUnlessPaused));
    return createRemoteJWKSet(new URL(url), { cooldownDuration: PAUSE_MS, [customFetch]: fetchUnlessPaused });
  };
  let keys: Promise<RemoteJWKSet> | undefined;
  const use = async (): Promise<RemoteJWKSet> => {
    keys ??= open();
    return keys.catch((error: unknown) => {
      keys = undefined;
      throw error;
    });
  };
  return async (header, token) => {
    try {
      return await (
        await use()
      )(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      if (error !== failure?.cause) {
        failure = { at: performance.now(), cause: error };
        onFailure(describe(error));
      }
      throw new KeysUnavailable(`Cannot fetch the keys of ${issuer}`, { cause: error });
    }
  };
}

/**
 * Lists the metadata URLs of OAuth (RFC 8414), which puts a path after the well-known part, and of OpenID Connect,
 * which may put it before.
 */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

async function discoverJwksUrl(issuer: string, fetchMetadata: Fetch): Promise<string> {
  for (const url of metadataUrls(issuer)) {
    const response = await fetchMetadata(url, { redirect: "error", headers: { accept: "application/json" } });
    const text = await response.text();
    if (!response.ok) continue;
    const { issuer: named, jwks_uri: jwksUrl } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer) throw new Error(`${url} is the metadata of another issuer: ${String(named)}`);
    if (typeof jwksUrl !== "string" || !isSecureUrl(jwksUrl)) throw new Error(`${url} has no usable jwks_uri`);
    return jwksUrl;
  }
  throw new Error("it publishes no metadata; set the address of its keys in auth.jwksUrls");
}

/** The message of a fetch error is always the same; its cause has the reason. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

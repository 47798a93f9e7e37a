import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from "jose";
import { isSecureUrl } from "../config/edge-schema.ts";

/** Nothing can be said about a token now: the keys of its issuer cannot be had. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Left out: the issuer's metadata says where they are. */
  readonly jwksUrl: string | undefined;
  /** Told once per failed attempt to get them. */
  readonly onFailure: (reason: string) => void;
}

/** After a fetch, and after one that failed, the issuer is left in peace that long, whatever tokens come. */
const PAUSE_MS = 5_000;
const FETCH_LIMIT_MS = 5_000;

/** The keys of an issuer: fetched when first needed, kept for ten minutes, fetched again for a key that is not among them. */
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
      throw new KeysUnavailable(`The keys of ${issuer} cannot be had`, { cause: error });
    }
  };
}

/** Of OAuth (RFC 8414), where a path comes after the well-known part, and of OpenID Connect, where it may come before. */
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
  throw new Error("it publishes no metadata; say where its keys are with auth.jwksUrls");
}

/** What fetch says of itself is always the same; why it failed is in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

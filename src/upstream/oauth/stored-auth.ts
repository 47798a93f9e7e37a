import { setTimeout as sleep } from "node:timers/promises";
import {
  computeScopeUnion,
  type FetchLike,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from "@modelcontextprotocol/client";
import { PmlError } from "../../base/errors.ts";
import { type Credential, type Credentials, expiryOf } from "./credential.ts";
import { createOauthFetch } from "./oauth-fetch.ts";
import {
  type Challenge,
  findMissingScope,
  findPmlError,
  isUnauthorized,
  loginNeeded,
  readChallenge,
  type Unauthorized,
  type ServerAuth,
} from "./server-auth.ts";

/** Tokens are renewed this long before they expire, so that no request uses an expired one. */
const EARLY_MS = 30_000;
const LOOK_AGAIN_MS = 250;
const LOOKS = 120;

/** Uses and renews a stored login. Without one, requests fail with `login_needed`. */
export class StoredAuth implements ServerAuth {
  readonly #server: string;
  readonly #url: string;
  readonly #credentials: Credentials;
  /** The token each response answered. */
  readonly #sent = new WeakMap<Response, string>();
  #credential: Credential | undefined;
  #renewing: Promise<void> | undefined;
  #challenge: Challenge = {};

  constructor(server: string, url: string, credentials: Credentials) {
    this.#server = server;
    this.#url = url;
    this.#credentials = credentials;
  }

  watch(fetchLike: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetchLike(url, init);
      const [, token] = /^Bearer (.+)$/i.exec(new Headers(init?.headers).get("authorization") ?? "") ?? [];
      if (token !== undefined) this.#sent.set(response, token);
      return response;
    };
  }

  /** The login that the server asked for last. */
  get challenge(): Challenge {
    return this.#challenge;
  }

  async token(): Promise<string | undefined> {
    this.#credential ??= await this.#credentials.find();
    const { tokens, expiresAt } = this.#credential ?? {};
    const ends = expiresAt !== undefined && expiresAt - EARLY_MS < Date.now();
    if (ends && tokens?.refresh_token !== undefined) {
      // A token near its expiry may still work; an expired one is refused by the server.
      await this.#renew(tokens.access_token).catch(() => undefined);
    }
    return this.#credential?.tokens?.access_token;
  }

  async onUnauthorized({ response }: Unauthorized): Promise<void> {
    this.#challenge = { ...this.#challenge, ...readChallenge(response) };
    await this.#renew(this.#sent.get(response));
  }

  explain(error: unknown): PmlError | undefined {
    const known = findPmlError(error);
    if (known !== undefined) return known;
    const missing = findMissingScope(error);
    if (missing !== undefined) return this.#needsMore(missing.requiredScope, missing.resourceMetadataUrl);
    return isUnauthorized(error) ? loginNeeded(this.#server, "does not accept the login") : undefined;
  }

  /** Drops the cached login, which was replaced or removed. */
  forget(): void {
    this.#credential = undefined;
  }

  #needsMore(scope: string | undefined, resourceMetadataUrl: URL | undefined): PmlError {
    const all = computeScopeUnion(this.#credential?.tokens?.scope, this.#challenge.scope, scope);
    this.#challenge = {
      ...(resourceMetadataUrl === undefined ? this.#challenge : { resourceMetadataUrl }),
      ...(all === undefined ? {} : { scope: all }),
    };
    return loginNeeded(this.#server, `wants a login that allows more${scope === undefined ? "" : ` (${scope})`}`);
  }

  /** Renews once for all requests refused at the same time: a refresh token may be valid for one use. */
  #renew(used: string | undefined): Promise<void> {
    this.#renewing ??= this.#replace(used).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #replace(used: string | undefined): Promise<void> {
    for (let look = 0; look < LOOKS; look += 1) {
      const stored = await this.#credentials.find();
      this.#credential = stored;
      if (stored?.tokens === undefined) throw loginNeeded(this.#server, "wants a login");
      if (stored.tokens.access_token !== used) return; // another request or gateway has renewed it
      if (stored.tokens.refresh_token === undefined) throw loginNeeded(this.#server, "wants a new login");
      if (await this.#credentials.claimRenewal(stored)) return this.#refresh(stored, stored.tokens.refresh_token);
      await sleep(LOOK_AGAIN_MS);
    }
    throw new PmlError("login_failed", `Cannot renew the login to ${this.#server}: another gateway's renewal failed`);
  }

  async #refresh(old: Credential, refreshToken: string): Promise<void> {
    const { discovery, client, resource, issuer } = old;
    const { authorizationServerMetadata: metadata } = discovery;
    try {
      const tokens = await refreshAuthorization(discovery.authorizationServerUrl, {
        ...(metadata === undefined ? {} : { metadata }),
        clientInformation: client,
        refreshToken,
        ...(resource === undefined ? {} : { resource }),
        fetchFn: createOauthFetch(this.#url),
      });
      const scope = tokens.scope ?? old.tokens?.scope;
      const { expiresAt: _old, ...rest } = old;
      const renewed = { ...tokens, ...(scope === undefined ? {} : { scope }), issuer };
      this.#credential = { ...rest, tokens: renewed, ...expiryOf(tokens) };
      await this.#credentials.save(this.#credential);
    } catch (error) {
      if (!isFinal(error)) {
        await this.#credentials.endRenewal(old);
        throw new PmlError("login_failed", `The login to ${this.#server} could not be renewed: ${reasonOf(error)}`, {
          hint: "It is tried again with the next call",
        });
      }
      await this.#credentials.retire(old, isUnknownClient(error) ? "ended" : "kept");
      this.#credential = undefined;
      throw loginNeeded(this.#server, `wants a new login (${reasonOf(error)})`);
    }
  }
}

/** True if the server rejected the renewal for good. */
function isFinal(error: unknown): boolean {
  return error instanceof OAuthError && !isOneOf(error, OAuthErrorCode.ServerError);
}

function isUnknownClient(error: unknown): boolean {
  return isOneOf(error, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient);
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof OAuthError && codes.includes(error.code);
}

/** Returns only the error code: the text of an authorization server may repeat what it was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof OAuthError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}

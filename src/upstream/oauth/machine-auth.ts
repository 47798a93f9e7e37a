import { auth, ClientCredentialsProvider, type FetchLike, OAuthError } from "@modelcontextprotocol/client";
import type { ServerOauth } from "../../config/schema.ts";
import { readSecret } from "../../config/secret-reference.ts";
import { PmlError } from "../../base/errors.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { createOauthFetch } from "./oauth-fetch.ts";
import {
  findMissingScope,
  findPmlError,
  isUnauthorized,
  readChallenge,
  type Unauthorized,
  type ServerAuth,
} from "./server-auth.ts";

export interface MachineClient {
  readonly server: string;
  readonly url: string;
  readonly oauth: ServerOauth;
  readonly secrets: Pick<Secrets, "know">;
}

/** Client credentials: logs in with a secret. Keeps tokens in memory only, since new ones can be requested at any time. */
export class MachineAuth implements ServerAuth {
  readonly #client: MachineClient;
  #provider: ClientCredentialsProvider | undefined;
  #fetching: Promise<void> | undefined;

  constructor(client: MachineClient) {
    this.#client = client;
  }

  watch(fetchLike: FetchLike): FetchLike {
    return fetchLike;
  }

  async token(): Promise<string | undefined> {
    return this.#provider?.tokens()?.access_token;
  }

  onUnauthorized({ response }: Unauthorized): Promise<void> {
    this.#fetching ??= this.#login(response).finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  explain(error: unknown): PmlError | undefined {
    const known = findPmlError(error);
    if (known !== undefined) return known;
    const missing = findMissingScope(error);
    if (missing !== undefined) return this.#failure(`its client may not do this (${missing.requiredScope ?? "scope"})`);
    return isUnauthorized(error) ? this.#failure("its client's token is not accepted") : undefined;
  }

  async #login(response: Response): Promise<void> {
    const { server, url, oauth, secrets } = this.#client;
    const { clientId = "", clientSecret, issuer = "", scope } = oauth;
    if (clientSecret === undefined) throw this.#failure("its client has no secret");
    const challenge = readChallenge(response);
    const secret = readSecret(clientSecret);
    secrets.know(`login ${server}`, [secret]);
    this.#provider = new ClientCredentialsProvider({
      clientId,
      clientSecret: secret,
      expectedIssuer: issuer,
      clientName: "PML",
      ...(scope === undefined ? {} : { scope }),
    });
    try {
      await auth(this.#provider, { serverUrl: url, ...challenge, fetchFn: createOauthFetch(url) });
      secrets.know(`login ${server}`, [this.#provider.tokens()?.access_token]);
    } catch (error) {
      throw findPmlError(error) ?? this.#failure(error instanceof OAuthError ? error.code : String(error), server);
    }
  }

  #failure(reason: string, server = this.#client.server): PmlError {
    return new PmlError("login_failed", `PML cannot log in to ${server}: ${reason}`, {
      hint: `Check mcpServers.${server}.pml.oauth`,
      details: { server },
    });
  }
}

import { randomBytes } from "node:crypto";
import {
  auth,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { ServerOauth } from "../../config/schema.ts";
import { readSecret } from "../../config/secret-reference.ts";
import { PmlError } from "../../base/errors.ts";
import { type Credential, expiryOf } from "./credential.ts";
import { createOauthFetch } from "./oauth-fetch.ts";
import type { Challenge } from "./server-auth.ts";

export interface FlowOptions {
  readonly server: string;
  readonly url: string;
  readonly oauth: ServerOauth | undefined;
  readonly redirectUrl: string;
  readonly clientMetadataUrl: string | undefined;
  readonly challenge: Challenge;
  /** Existing login, whose registration can be reused. */
  readonly known: Credential | undefined;
}

export function clientMetadata(redirectUrl: string, scope?: string): OAuthClientMetadata {
  return {
    client_name: "PML",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    ...(scope === undefined ? {} : { scope }),
  };
}

/** One login, from the address a person opens to the tokens. Stores nothing before it is complete. */
export class LoginFlow implements OAuthClientProvider {
  readonly options: FlowOptions;
  readonly clientMetadataUrl?: string;
  readonly #state = randomBytes(32).toString("base64url");
  #authorizationUrl: URL | undefined;
  #verifier = "";
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #resource: string | undefined;

  constructor(options: FlowOptions) {
    this.options = options;
    this.#client = findClient(options);
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
  }

  /** Address of the consent page. */
  async begin(): Promise<URL> {
    const { url, oauth, challenge } = this.options;
    const scope = challenge.scope ?? oauth?.scope;
    await auth(this, {
      serverUrl: url,
      ...challenge,
      ...(scope === undefined ? {} : { scope }),
      forceReauthorization: true,
      fetchFn: createOauthFetch(url),
    });
    if (this.#authorizationUrl === undefined) throw new Error("the authorization server named no address");
    return this.#authorizationUrl;
  }

  async finish(authorizationCode: string, iss: string | undefined): Promise<Credential> {
    const { url } = this.options;
    await auth(this, {
      serverUrl: url,
      authorizationCode,
      ...(iss === undefined ? {} : { iss }),
      fetchFn: createOauthFetch(url),
    });
    const [client, tokens, discovery] = [this.#client, this.#tokens, this.#discovery];
    if (client === undefined || tokens?.issuer === undefined || discovery === undefined)
      throw new Error("the authorization server gave no token");
    return {
      issuer: tokens.issuer,
      client,
      tokens,
      discovery,
      ...expiryOf(tokens),
      ...(this.#resource === undefined ? {} : { resource: this.#resource }),
    };
  }

  get redirectUrl(): string {
    return this.options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return clientMetadata(this.options.redirectUrl, this.options.oauth?.scope);
  }

  state(): string {
    return this.#state;
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { server, oauth } = this.options;
    if (oauth?.issuer !== undefined && context !== undefined && !isSameIssuer(oauth.issuer, context.issuer)) {
      throw new PmlError("login_failed", `${server} sends logins to ${context.issuer}, not to ${oauth.issuer}`, {
        hint: `Check mcpServers.${server}.pml.oauth.issuer`,
      });
    }
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.#authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource;
  }
}

function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

/** Returns the configured client, or the registration of the last login if it has the same redirect address. */
function findClient({ oauth, known, redirectUrl }: FlowOptions): StoredOAuthClientInformation | undefined {
  if (oauth?.clientId !== undefined) {
    return {
      client_id: oauth.clientId,
      ...(oauth.clientSecret === undefined ? {} : { client_secret: readSecret(oauth.clientSecret) }),
      ...(oauth.issuer === undefined ? {} : { issuer: oauth.issuer }),
    };
  }
  const client = known?.client;
  const registered = client !== undefined && "redirect_uris" in client && Array.isArray(client.redirect_uris);
  return registered && client.redirect_uris.map(String).includes(redirectUrl) ? client : undefined;
}

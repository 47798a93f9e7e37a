import {
  type AuthInfo,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import type { ConfigValues } from "../config/schema.ts";
import type { Logger } from "../base/log.ts";
import { createIssuerKeys, KeysUnavailable } from "./issuer-keys.ts";
import { verifyToken } from "./verify-token.ts";

type AuthSettings = NonNullable<ConfigValues["auth"]>;

export interface ResourceServerOptions {
  readonly settings: AuthSettings;
  readonly log: Logger;
  /** Called with a one-word reason for each refusal. */
  readonly onRefused: (reason: string) => void;
}

/** The gateway as a resource server of OAuth 2.1: it verifies tokens and never issues any. */
export interface ResourceServer {
  /** The host name under which remote clients address the gateway. */
  readonly host: string;
  /** Protected resource metadata (RFC 9728), and the paths that serve it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly metadataPaths: readonly string[];
  /** Resolves an Authorization header to its caller, or to the response that refuses it. */
  authenticate(authorization: string | undefined): Promise<AuthInfo | Response>;
}

const METADATA_PATH = "/.well-known/oauth-protected-resource";
const RETRY_SECONDS = 5;

export function createResourceServer({ settings, log, onRefused }: ResourceServerOptions): ResourceServer {
  const { issuers, resource, audience = resource, scopes, jwksUrls, adminScope } = settings;
  const keys = new Map(
    issuers.map((issuer) => {
      const onFailure = (reason: string): void =>
        log.error({ issuer, reason }, "cannot fetch the keys of the issuer; its tokens are refused with 503");
      return [issuer, createIssuerKeys({ issuer, jwksUrl: jwksUrls[issuer], onFailure })];
    }),
  );
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource));
  const options = {
    verifier: { verifyAccessToken: (token: string) => verifyToken(token, { keys, audience, adminScope }) },
    requiredScopes: scopes,
    resourceMetadataUrl,
  };
  return {
    host: new URL(resource).hostname,
    metadata: {
      resource,
      authorization_servers: issuers,
      bearer_methods_supported: ["header"],
      resource_name: "PML",
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    },
    metadataPaths: [...new Set([METADATA_PATH, new URL(resourceMetadataUrl).pathname])],
    async authenticate(authorization) {
      try {
        return await verifyBearerToken(authorization, options);
      } catch (error) {
        onRefused(reasonOf(error));
        if (error instanceof KeysUnavailable) return unavailable(error);
        if (!(error instanceof OAuthError)) log.error({ error: String(error) }, "cannot verify a token");
        return bearerAuthChallengeResponse(error, options);
      }
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof KeysUnavailable) return "keys_unavailable";
  return error instanceof OAuthError ? error.code : "server_error";
}

function unavailable({ message }: KeysUnavailable): Response {
  const body = { error: "temporarily_unavailable", error_description: message };
  return Response.json(body, { status: 503, headers: { "Retry-After": String(RETRY_SECONDS) } });
}

import type { Credential } from "./credential.ts";
import { createOauthFetch } from "./oauth-fetch.ts";

/** Revokes a login at the authorization server. Skips servers without revocation. */
export async function revoke({ client, tokens, discovery }: Credential, serverUrl: string): Promise<void> {
  const metadata: Record<string, unknown> = { ...discovery.authorizationServerMetadata };
  const endpoint = metadata["revocation_endpoint"];
  if (typeof endpoint !== "string" || tokens === undefined) return;
  const body = new URLSearchParams({
    token: tokens.refresh_token ?? tokens.access_token,
    token_type_hint: tokens.refresh_token === undefined ? "access_token" : "refresh_token",
    client_id: client.client_id,
    ...(client.client_secret === undefined ? {} : { client_secret: client.client_secret }),
  });
  await createOauthFetch(serverUrl)(endpoint, { method: "POST", body });
}

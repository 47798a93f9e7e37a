import type { Credential } from "./credential.ts";
import { createOauthFetch } from "./oauth-fetch.ts";

/** Tells the authorization server that a login is over. One that does not want to know is left alone. */
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

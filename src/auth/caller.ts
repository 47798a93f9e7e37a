import type { IncomingMessage } from "node:http";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Principal } from "./principal.ts";

/** A request that passed the guard. Without `auth` it carried the local token. */
export type GuardedRequest = IncomingMessage & { auth?: AuthInfo };

const PRINCIPAL_KEY = "principal";

/** Builds the form in which the SDK passes a caller to handlers. Leaves out the token: no handler needs it. */
export function toAuthInfo(principal: Principal, expiresAt: number): AuthInfo {
  const { clientId, scopes } = principal;
  return { token: "", clientId, scopes: [...scopes], expiresAt, extra: { [PRINCIPAL_KEY]: principal } };
}

export function principalOf(info: AuthInfo | undefined): Principal | undefined {
  return info?.extra?.[PRINCIPAL_KEY] as Principal | undefined;
}

import { OAuthError, OAuthErrorCode, type AuthInfo } from "@modelcontextprotocol/server";
import { decodeJwt, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { toAuthInfo } from "./caller.ts";
import { KeysUnavailable } from "./issuer-keys.ts";
import { principalId } from "./principal.ts";

export interface TokenRules {
  /** Key lookup of each accepted issuer. */
  readonly keys: ReadonlyMap<string, JWTVerifyGetKey>;
  readonly audience: string;
  readonly adminScope: string | undefined;
}

/** Asymmetric algorithms only: a verifier must not be able to issue tokens. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Tolerates small clock differences, except for the expiry of a token. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Throws OAuthError for an invalid token, KeysUnavailable if it cannot be verified now. */
export async function verifyToken(token: string, { keys, audience, adminScope }: TokenRules): Promise<AuthInfo> {
  const issuer = readIssuer(token);
  const getKey = keys.get(issuer);
  if (getKey === undefined) throw invalid("The issuer of the token is not accepted here");
  const claims = await verifyClaims(token, getKey, { issuer, audience });
  const { sub: subject = "", exp: expiresAt = 0 } = claims;
  if (subject === "") throw invalid("The token does not say whom it stands for (sub)");
  const clientId = firstText(claims["client_id"], claims["azp"]) ?? subject;
  const scopes = readScopes(claims["scope"] ?? claims["scp"]);
  const admin = adminScope !== undefined && scopes.includes(adminScope) ? ({ admin: true } as const) : {};
  return toAuthInfo({ id: principalId(issuer, subject), subject, issuer, clientId, scopes, ...admin }, expiresAt);
}

/** Reads the unverified issuer, only to choose the keys. */
function readIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw invalid("The token is not a JWT");
  }
}

async function verifyClaims(
  token: string,
  getKey: JWTVerifyGetKey,
  expected: { issuer: string; audience: string },
): Promise<JWTPayload> {
  const options = {
    ...expected,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["sub", "exp"],
  };
  try {
    return (await jwtVerify(token, getKey, options)).payload;
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error;
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

function invalid(message: string): OAuthError {
  return new OAuthError(OAuthErrorCode.InvalidToken, message);
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === "string" && value !== "") as string | undefined;
}

/** The standard is one string with spaces; some servers send a list. */
function readScopes(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((scope) => typeof scope === "string");
  return typeof claim === "string" ? claim.split(" ").filter((scope) => scope !== "") : [];
}

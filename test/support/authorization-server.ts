import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** The requested paths, in order. */
  readonly requests: readonly string[];
  /** Signs a token for an hour, with other claims if given; undefined omits a claim. */
  sign(claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Replaces the key; the previous one is no longer published. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
  /** Starts again on the same port. */
  start(): Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface AuthorizationServerOptions {
  readonly audience: string;
  readonly path?: string;
}

/** A loopback authorization server: metadata, keys and tokens, and for programs client credentials. */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const { audience, path = "" } = options;
  const requests: string[] = [];
  let key = await createKey(1);
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const documents: Record<string, () => unknown> = {
      [`/.well-known/oauth-authorization-server${path}`]: () => describeServer(issuer, origin),
      "/keys": () => ({ keys: [{ ...key.jwk, kid: key.kid, use: "sig" }] }),
      "/token": async () => ({ access_token: await issue(), token_type: "Bearer", expires_in: 3_600 }),
    };
    const find = documents[request.url ?? ""];
    response.writeHead(find === undefined ? 404 : 200, { "Content-Type": "application/json" });
    void Promise.resolve(find?.()).then((document) => response.end(JSON.stringify(document ?? {})));
  });
  const port = await listen(server, 0);
  const origin = `http://127.0.0.1:${port}`;
  const issuer = `${origin}${path}`;
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  let keys = 1;
  const issue = (claims = {}): Promise<string> => sign(key, { ...goodClaims(issuer, audience), ...claims });
  return {
    issuer,
    requests,
    sign: issue,
    async rotate() {
      keys += 1;
      key = await createKey(keys);
    },
    stop,
    start: async () => void (await listen(server, port)),
    [Symbol.asyncDispose]: stop,
  };
}

function describeServer(issuer: string, origin: string): unknown {
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
  };
}

function goodClaims(issuer: string, audience: string): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  const who = { sub: "ada", client_id: "test-app", scope: "mcp other" };
  return { iss: issuer, aud: audience, iat: now, exp: now + 3_600, ...who };
}

async function createKey(number: number): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  return { kid: `key-${number}`, privateKey, jwk: await exportJWK(publicKey) };
}

function sign({ kid, privateKey }: SigningKey, claims: JWTPayload): Promise<string> {
  return new SignJWT(JSON.parse(JSON.stringify(claims)) as JWTPayload)
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(privateKey);
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

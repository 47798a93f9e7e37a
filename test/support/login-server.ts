/** An OAuth authorization server on loopback that grants every login, but validates every parameter. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LoginServer extends AsyncDisposable {
  readonly issuer: string;
  /** The requests it received, as "POST /token refresh_token". */
  readonly requests: string[];
  /** Every secret it ever issued. */
  readonly secrets: string[];
  /** Returns the scope of a valid access token, or undefined. */
  scopeOf(accessToken: string): string | undefined;
  /** Expires every access token. */
  expireTokens(): void;
  /** Revokes every login: no refresh token works. */
  revokeAll(): void;
}

export interface LoginServerOptions {
  readonly tokenSeconds?: number;
  /** True if a client id may be the address of a client's metadata. */
  readonly clientDocuments?: boolean;
  /** True if it sends another issuer in its redirects. */
  readonly wrongIssuer?: boolean;
  readonly machine?: { readonly id: string; readonly secret: string };
}

interface Grant {
  readonly client: string;
  readonly scope: string;
  readonly resource: string;
}

interface IssuedCode extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

class Refused extends Error {}

/** The state of the server and its operations. */
class LoginState {
  readonly issuer: string;
  readonly options: LoginServerOptions;
  readonly secrets: string[] = [];
  readonly clients = new Map<string, readonly string[]>();
  readonly codes = new Map<string, IssuedCode>();
  readonly access = new Map<string, Grant>();
  readonly refresh = new Map<string, Grant>();

  constructor(issuer: string, options: LoginServerOptions) {
    this.issuer = issuer;
    this.options = options;
  }

  create(): string {
    const secret = `secret-${randomBytes(24).toString("base64url")}`;
    this.secrets.push(secret);
    return secret;
  }

  metadata(): unknown {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      revocation_endpoint: `${this.issuer}/revoke`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: this.options.clientDocuments === true,
    };
  }

  register(metadata: { redirect_uris?: string[] }): unknown {
    const id = `client-${this.clients.size + 1}`;
    this.clients.set(id, metadata.redirect_uris ?? []);
    return { ...metadata, client_id: id };
  }

  authorize(query: URLSearchParams): string {
    const read = (name: string): string => query.get(name) ?? "";
    const [client, redirectUri, state] = [read("client_id"), read("redirect_uri"), read("state")];
    const documented = this.options.clientDocuments === true && client.startsWith("https://");
    if (!documented && !this.clients.get(client)?.includes(redirectUri)) throw new Refused("unauthorized_client");
    if (read("code_challenge_method") !== "S256" || state === "") throw new Refused("invalid_request");
    const code = this.create();
    const [challenge, scope, resource] = [read("code_challenge"), read("scope"), read("resource")];
    this.codes.set(code, { client, redirectUri, challenge, scope, resource });
    const target = new URL(redirectUri);
    target.searchParams.set("code", code);
    target.searchParams.set("state", state);
    target.searchParams.set("iss", this.options.wrongIssuer === true ? "https://evil.example" : this.issuer);
    return target.href;
  }

  token(body: URLSearchParams, authorization: string | undefined): unknown {
    const grant = body.get("grant_type");
    if (grant === "authorization_code") return this.issue(this.redeem(body), true);
    if (grant === "refresh_token") {
      const used = body.get("refresh_token") ?? "";
      const known = this.refresh.get(used);
      this.refresh.delete(used); // single use
      if (known === undefined || known.client !== body.get("client_id")) throw new Refused("invalid_grant");
      return this.issue(known, true);
    }
    const { id, secret } = this.options.machine ?? {};
    const expected = `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
    if (grant !== "client_credentials" || authorization !== expected) throw new Refused("invalid_client");
    return this.issue(
      { client: id ?? "", scope: body.get("scope") ?? "", resource: body.get("resource") ?? "" },
      false,
    );
  }

  redeem(body: URLSearchParams): Grant {
    const code = this.codes.get(body.get("code") ?? "");
    this.codes.delete(body.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const right =
      code?.challenge === challenge &&
      code.client === body.get("client_id") &&
      code.redirectUri === body.get("redirect_uri") &&
      code.resource === body.get("resource");
    if (code === undefined || !right) throw new Refused("invalid_grant");
    return code;
  }

  issue(grant: Grant, renewable: boolean): unknown {
    const token = this.create();
    this.access.set(token, grant);
    const refresh = renewable ? this.create() : undefined;
    if (refresh !== undefined) this.refresh.set(refresh, grant);
    return {
      access_token: token,
      token_type: "Bearer",
      expires_in: this.options.tokenSeconds ?? 3600,
      scope: grant.scope,
      ...(refresh === undefined ? {} : { refresh_token: refresh }),
    };
  }
}

export async function startLoginServer(options: LoginServerOptions = {}): Promise<LoginServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => void serve(request, response, { state, requests }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = new LoginState(issuer, options);
  return {
    issuer,
    requests,
    secrets: state.secrets,
    scopeOf: (token) => state.access.get(token)?.scope,
    expireTokens: () => state.access.clear(),
    revokeAll() {
      state.access.clear();
      state.refresh.clear();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface LoginRequest {
  readonly query: URLSearchParams;
  readonly text: string;
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

/** Responses by path: a document, or a redirect. */
const PATHS: Readonly<
  Record<string, (state: LoginState, asked: LoginRequest) => { document: unknown } | { location: string }>
> = {
  "/.well-known/oauth-authorization-server": (state) => ({ document: state.metadata() }),
  "/register": (state, { text }) => ({ document: state.register(JSON.parse(text) as { redirect_uris?: string[] }) }),
  "/authorize": (state, { query }) => ({ location: state.authorize(query) }),
  "/token": (state, { form, authorization }) => ({ document: state.token(form, authorization) }),
  "/revoke": (state, { form }) => ({ document: { revoked: state.refresh.delete(form.get("token") ?? "") } }),
};

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { state, requests }: { state: LoginState; requests: string[] },
): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? "/", state.issuer);
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const form = new URLSearchParams(text);
  const send = (status: number, document: unknown): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
  requests.push(`${request.method} ${pathname}${pathname === "/token" ? ` ${form.get("grant_type")}` : ""}`);
  try {
    const answer = PATHS[pathname]?.(state, { query, text, form, authorization: request.headers.authorization });
    if (answer === undefined) send(404, {});
    else if ("location" in answer) response.writeHead(302, { location: answer.location }).end();
    else send(pathname === "/register" ? 201 : 200, answer.document);
  } catch (error) {
    send(400, { error: error instanceof Refused ? error.message : "server_error" });
  }
}

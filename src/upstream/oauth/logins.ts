import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { OAuthError } from "@modelcontextprotocol/client";
import type { Scope } from "../../registry/scope.ts";
import type { McpServerEntry } from "../../config/schema.ts";
import type { Db } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Seal } from "../../secrets/seal.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { Credentials } from "./credential.ts";
import { deleteCredentials, type LoginEvent, recordLogin } from "./credential-store.ts";
import { clientMetadata, LoginFlow } from "./login-flow.ts";
import { MachineAuth } from "./machine-auth.ts";
import { revoke } from "./revoke.ts";
import { findPmlError, type ServerAuth } from "./server-auth.ts";
import { StoredAuth } from "./stored-auth.ts";

export interface LoginsOptions {
  readonly db: Db;
  readonly scope: Scope;
  /** Throws without a key to seal with. */
  readonly getSeal: () => Seal;
  /** Learns tokens, so that they are hidden wherever they turn up. */
  readonly secrets: Pick<Secrets, "know">;
  readonly clientMetadataUrl: string | undefined;
  /** Redirect address for browsers, if not the gateway's own. */
  readonly redirectUrl: string | undefined;
  readonly log: Logger;
}

/** A login that waits for a person. */
export interface StartedLogin {
  readonly id: string;
  readonly url: string;
  readonly seconds: number;
}

interface PendingLogin {
  readonly id: string;
  readonly flow: LoginFlow;
  readonly ended: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
}

/** Query parameters of the redirect. */
export interface LoginAnswer {
  readonly state: string;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

const CALLBACK_PATH = "/oauth/callback";
const LOGIN_MINUTES = 10;
/** Finished logins are kept this long, so that their outcome can be read. */
const REMEMBERED_MS = 60_000;

/** Logins to remote servers, pending and stored. */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #auths = new Map<string, StoredAuth>();
  readonly #pending = new Map<string, PendingLogin>();
  readonly #byId = new Map<string, PendingLogin>();
  #redirectUrl: string | undefined;

  constructor(options: LoginsOptions) {
    this.#options = options;
    this.#redirectUrl = options.redirectUrl;
  }

  /** Sets the gateway's own address as the redirect, unless another is configured. */
  listenAt(address: string): void {
    this.#redirectUrl ??= new URL(CALLBACK_PATH, address).href;
  }

  /** Client metadata document, for servers that accept an address instead of a registration. */
  get clientDocument(): Record<string, unknown> | undefined {
    const { clientMetadataUrl } = this.#options;
    if (clientMetadataUrl === undefined || this.#redirectUrl === undefined) return undefined;
    return { client_id: clientMetadataUrl, ...clientMetadata(this.#redirectUrl) };
  }

  /** Returns undefined if only the configured headers are sent. */
  authFor(server: string, entry: McpServerEntry): ServerAuth | undefined {
    const { url, headers = {}, pml: { oauth } = {} } = entry;
    const { secrets } = this.#options;
    this.#auths.delete(server); // belonged to an earlier configuration
    if (url === undefined || Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
      return undefined;
    if (oauth?.grant === "client_credentials") return new MachineAuth({ server, url, oauth, secrets });
    const auth = new StoredAuth(server, url, this.#credentialsOf(server, url));
    this.#auths.set(server, auth);
    return auth;
  }

  async begin(server: string, entry: McpServerEntry): Promise<StartedLogin> {
    const auth = this.#auths.get(server);
    const { url, pml: { oauth } = {} } = entry;
    if (auth === undefined || url === undefined) throw notPossible(server, entry);
    this.#options.getSeal(); // fails before a person consents to a login that could not be stored
    const redirectUrl = this.#redirectUrl;
    if (redirectUrl === undefined) throw new PmlError("login_failed", "The gateway is not reachable for browsers yet");
    const flow = new LoginFlow({
      server,
      url,
      oauth,
      redirectUrl,
      clientMetadataUrl: this.#options.clientMetadataUrl,
      challenge: auth.challenge,
      known: await this.#credentialsOf(server, url).find(),
    });
    const address = await flow.begin().catch((error: unknown) => Promise.reject(failure(server, error)));
    if (!/^https?:$/.test(address.protocol)) throw failure(server, new Error(`${address.protocol} is no web address`));
    return { id: this.#remember(flow), url: address.href, seconds: LOGIN_MINUTES * 60 };
  }

  /** Completes a login with the redirect's parameters, once. Returns its server. */
  async finish({ state, code, iss, error }: LoginAnswer): Promise<string> {
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    if (pending === undefined) {
      throw new PmlError("login_failed", "This login is not known, over, or was used already", {
        hint: "Begin anew: pml login <server>",
      });
    }
    clearTimeout(pending.timer);
    const { server, url } = pending.flow.options;
    try {
      if (code === undefined) throw new OAuthError(readErrorCode(error), "");
      const credential = await pending.flow.finish(code, iss);
      await this.#credentialsOf(server, url).save(credential);
      await this.#record("server.login", server);
      this.#options.log.info({ server, issuer: credential.issuer }, "logged in");
      pending.ended.resolve();
      return server;
    } catch (cause) {
      const failed = failure(server, cause);
      pending.ended.reject(failed);
      throw failed;
    } finally {
      setTimeout(() => this.#byId.delete(pending.id), REMEMBERED_MS).unref();
    }
  }

  /** Waits for the login; returns whether it completed in time, throws if it failed. */
  async wait(id: string, ms: number): Promise<boolean> {
    const pending = this.#byId.get(id);
    if (pending === undefined) throw new PmlError("login_failed", "This login is not known or over");
    const waited = sleep(ms, false, { ref: false });
    return Promise.race([pending.ended.promise.then(() => true), waited]);
  }

  /** Deletes and revokes the login to a server. Returns whether there was one. */
  async end(server: string, entry: McpServerEntry): Promise<boolean> {
    const { db, scope, log } = this.#options;
    const { url = "" } = entry;
    const stored = this.#credentialsOf(server, url);
    const known = await stored.find().catch(() => undefined); // an unreadable login is deleted too
    if ((await deleteCredentials(db, { scope, server })) === 0) return false;
    await this.#record("server.logout", server);
    if (known !== undefined) {
      await revoke(known, url).catch(() =>
        log.warn({ server }, "the login is forgotten here, but could not be revoked"),
      );
    }
    return true;
  }

  /** Called after logins changed, here or on another gateway. */
  reload(): void {
    for (const auth of this.#auths.values()) auth.forget();
  }

  async #record(action: LoginEvent["action"], server: string): Promise<void> {
    this.reload();
    await recordLogin(this.#options.db, this.#options.scope, { action, server });
  }

  #credentialsOf(server: string, url: string): Credentials {
    const { db, scope, getSeal, secrets } = this.#options;
    return new Credentials(db, { scope, server, url }, { getSeal, secrets });
  }

  #remember(flow: LoginFlow): string {
    const expire = (): void => {
      this.#pending.delete(flow.state());
      this.#byId.delete(pending.id);
      pending.ended.reject(
        new PmlError("login_failed", `The login was not finished within ${LOGIN_MINUTES} minutes`, {
          hint: `Begin anew: pml login ${flow.options.server}`,
        }),
      );
    };
    const timer = setTimeout(expire, LOGIN_MINUTES * 60_000).unref();
    const pending: PendingLogin = { id: randomUUID(), flow, ended: Promise.withResolvers(), timer };
    pending.ended.promise.catch(() => undefined); // its callers get the rejection
    this.#pending.set(flow.state(), pending);
    this.#byId.set(pending.id, pending);
    return pending.id;
  }
}

function notPossible(server: string, { url, pml }: McpServerEntry): PmlError {
  const reason =
    url === undefined
      ? "it is a program on this machine"
      : pml?.oauth?.grant === "client_credentials"
        ? "its client logs in by itself"
        : "its configuration has an Authorization header, which is sent instead";
  return new PmlError("login_failed", `There is no login to ${server}: ${reason}`);
}

/** Untrusted, since anybody can open the address: shown only if it looks like a code. */
function readErrorCode(error: string | undefined): string {
  return error !== undefined && /^[a-z_]{1,64}$/.test(error) ? error : "no code came back";
}

/** Extracts only the error code of an authorization server: its text may repeat what it was sent. */
function failure(server: string, error: unknown): PmlError {
  const known = findPmlError(error);
  if (known !== undefined) return known;
  const reason = error instanceof OAuthError ? error.code : error instanceof Error ? error.message : String(error);
  return new PmlError("login_failed", `The login to ${server} failed: ${reason}`, {
    hint: `Try again: pml login ${server}`,
    cause: error,
  });
}

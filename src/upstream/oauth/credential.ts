import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { Db } from "../../db/client.ts";
import type { Seal } from "../../secrets/seal.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import {
  claimRenewal,
  type CredentialKey,
  deleteCredentials,
  endRenewal,
  findCredential,
  writeCredential,
} from "./credential-store.ts";

/** Everything needed to use and renew one login. */
export interface Credential {
  readonly issuer: string;
  readonly client: StoredOAuthClientInformation;
  /** Absent after they expired; the registration is kept for the next login. */
  readonly tokens?: StoredOAuthTokens;
  /** Expiry of the access token, if the server said so. */
  readonly expiresAt?: number;
  readonly discovery: OAuthDiscoveryState;
  /** Resource indicator of the tokens. */
  readonly resource?: string;
}

const RENEWAL_SECONDS = 30;

interface CredentialParts {
  readonly getSeal: () => Seal;
  readonly secrets: Pick<Secrets, "know">;
}

/** The stored login to one server. */
export class Credentials {
  readonly #db: Db;
  readonly #key: CredentialKey;
  readonly #getSeal: () => Seal;
  readonly #secrets: Pick<Secrets, "know">;
  /** Sealed form of each login that was read, by which a renewal recognises a newer one. */
  readonly #sealed = new WeakMap<Credential, string>();

  constructor(db: Db, key: CredentialKey, { getSeal, secrets }: CredentialParts) {
    this.#db = db;
    this.#key = key;
    this.#getSeal = getSeal;
    this.#secrets = secrets;
  }

  async find(): Promise<Credential | undefined> {
    const stored = await findCredential(this.#db, this.#key);
    if (stored === undefined) return undefined;
    const credential = JSON.parse(this.#getSeal().open(stored.sealed, this.#context(stored.issuer))) as Credential;
    this.#sealed.set(credential, stored.sealed);
    this.#learn(credential);
    return credential;
  }

  async save(credential: Credential): Promise<void> {
    const { issuer } = credential;
    this.#learn(credential);
    const sealed = this.#getSeal().seal(JSON.stringify(credential), this.#context(issuer));
    await writeCredential(this.#db, this.#key, { issuer, sealed });
  }

  /** Deletes expired tokens, with the registration if it ended too, unless newer tokens were stored. */
  async retire(ended: Credential, registration: "kept" | "ended"): Promise<void> {
    const current = await this.find();
    if (current?.tokens?.access_token !== ended.tokens?.access_token) return;
    const { tokens: _tokens, expiresAt: _expiresAt, ...rest } = ended;
    if (registration === "kept") await this.save(rest);
    else await deleteCredentials(this.#db, this.#key);
  }

  /** Claims the renewal of a login that `find` returned. */
  claimRenewal(found: Credential): Promise<boolean> {
    const sealed = this.#sealed.get(found) ?? "";
    return claimRenewal(this.#db, this.#key, { issuer: found.issuer, sealed }, RENEWAL_SECONDS);
  }

  endRenewal({ issuer }: Credential): Promise<void> {
    return endRenewal(this.#db, this.#key, issuer);
  }

  #learn({ client, tokens }: Credential): void {
    this.#secrets.know(`login ${this.#key.server}`, [
      client.client_secret,
      tokens?.access_token,
      tokens?.refresh_token,
      tokens?.id_token,
    ]);
  }

  #context(issuer: string): string[] {
    const { scope, server, url } = this.#key;
    return [scope.org, scope.project, server, url, issuer];
  }
}

export function expiryOf({ expires_in }: StoredOAuthTokens, now = Date.now()): { expiresAt?: number } {
  return expires_in === undefined ? {} : { expiresAt: now + expires_in * 1000 };
}

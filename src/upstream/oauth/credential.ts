import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { Db } from "../../db/client.ts";
import type { Seal } from "../../secrets/seal.ts";
import {
  claimRenewal,
  type CredentialKey,
  deleteCredentials,
  endRenewal,
  findCredential,
  writeCredential,
} from "./credential-store.ts";

/** Everything about one login that is needed to use and renew it. */
export interface Credential {
  readonly issuer: string;
  readonly client: StoredOAuthClientInformation;
  /** Left out once they have ended: the registration is still good for the next login. */
  readonly tokens?: StoredOAuthTokens;
  /** When the access token ends, where the server said so. */
  readonly expiresAt?: number;
  readonly discovery: OAuthDiscoveryState;
  /** What the tokens are for, as the authorization server knows it. */
  readonly resource?: string;
}

const RENEWAL_SECONDS = 30;

/** The stored login to one server. */
export class Credentials {
  readonly #db: Db;
  readonly #key: CredentialKey;
  readonly #getSeal: () => Seal;
  /** As what each was read. */
  readonly #sealed = new WeakMap<Credential, string>();

  constructor(db: Db, key: CredentialKey, getSeal: () => Seal) {
    this.#db = db;
    this.#key = key;
    this.#getSeal = getSeal;
  }

  async find(): Promise<Credential | undefined> {
    const stored = await findCredential(this.#db, this.#key);
    if (stored === undefined) return undefined;
    const credential = JSON.parse(this.#getSeal().open(stored.sealed, this.#context(stored.issuer))) as Credential;
    this.#sealed.set(credential, stored.sealed);
    return credential;
  }

  async save(credential: Credential): Promise<void> {
    const { issuer } = credential;
    const sealed = this.#getSeal().seal(JSON.stringify(credential), this.#context(issuer));
    await writeCredential(this.#db, this.#key, { issuer, sealed });
  }

  /** Forgets tokens that have ended, unless there are others by now. The registration may have ended with them. */
  async retire(ended: Credential, registration: "kept" | "ended"): Promise<void> {
    const current = await this.find();
    if (current?.tokens?.access_token !== ended.tokens?.access_token) return;
    const { tokens: _tokens, expiresAt: _expiresAt, ...rest } = ended;
    if (registration === "kept") await this.save(rest);
    else await deleteCredentials(this.#db, this.#key);
  }

  /** Of one that was found here. */
  claimRenewal(found: Credential): Promise<boolean> {
    const sealed = this.#sealed.get(found) ?? "";
    return claimRenewal(this.#db, this.#key, { issuer: found.issuer, sealed }, RENEWAL_SECONDS);
  }

  endRenewal({ issuer }: Credential): Promise<void> {
    return endRenewal(this.#db, this.#key, issuer);
  }

  #context(issuer: string): string[] {
    const { scope, server, url } = this.#key;
    return [scope.org, scope.project, server, url, issuer];
  }
}

export function expiryOf({ expires_in }: StoredOAuthTokens, now = Date.now()): { expiresAt?: number } {
  return expires_in === undefined ? {} : { expiresAt: now + expires_in * 1000 };
}

import { v5 as nameBasedId } from "uuid";

/** The caller behind a token of an authorization server. A caller with the local token is the owner instead. */
export interface Principal {
  readonly id: string;
  /** The user, as the issuer names them. */
  readonly subject: string;
  readonly issuer: string;
  /** The program that acts for the user. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Set if the token has `auth.adminScope`. */
  readonly admin?: true;
}

const NAMESPACE = "5b0cbd2e-9f5e-4b5c-8f5a-6c1f2f0e6a57";

/** Derived from issuer and subject, so that every gateway of a database computes the same id without a lookup. */
export function principalId(issuer: string, subject: string): string {
  return nameBasedId(JSON.stringify([issuer, subject]), NAMESPACE);
}

import { v5 as nameBasedId } from "uuid";

/** Who makes a request with a token of an authorization server. Whoever has the local token is none: it is the owner. */
export interface Principal {
  readonly id: string;
  /** Whom the token stands for, as its issuer names them. */
  readonly subject: string;
  readonly issuer: string;
  /** The program that acts for them. */
  readonly clientId: string;
  readonly scopes: readonly string[];
}

const NAMESPACE = "5b0cbd2e-9f5e-4b5c-8f5a-6c1f2f0e6a57";

/** Made of issuer and subject, so that every gateway of a database gives the same principal the same id without a look-up. */
export function principalId(issuer: string, subject: string): string {
  return nameBasedId(JSON.stringify([issuer, subject]), NAMESPACE);
}

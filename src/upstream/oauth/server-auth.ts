import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  type FetchLike,
  InsufficientScopeError,
} from "@modelcontextprotocol/client";
import { PmlError } from "../../base/errors.ts";
import { findHttpStatus } from "../failures.ts";

/** How PML makes itself known to one remote server. */
export interface ServerAuth extends AuthProvider {
  /** The transport's, so that a refusal can be told from one of an older token. */
  readonly fetch: FetchLike;
  /** What a failed request means, where it failed for want of a login. */
  explain(error: unknown): PmlError | undefined;
}

export type Refusal = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/** What a server said about the login it wants. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

export function readChallenge(response: Response): Challenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}

export function loginNeeded(server: string, reason: string): PmlError {
  return new PmlError("login_needed", `Server ${server} ${reason}`, {
    hint: `A person has to do it: pml login ${server}`,
    details: { server },
  });
}

/** An error of ours that others wrapped. */
export function findPmlError(error: unknown): PmlError | undefined {
  if (error instanceof PmlError) return error;
  return error instanceof Error ? findPmlError(error.cause) : undefined;
}

export function findMissingScope(error: unknown): InsufficientScopeError | undefined {
  if (error instanceof InsufficientScopeError) return error;
  return error instanceof Error ? findMissingScope(error.cause) : undefined;
}

export function isUnauthorized(error: unknown): boolean {
  return findHttpStatus(error) === 401;
}

import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  type FetchLike,
  InsufficientScopeError,
} from "@modelcontextprotocol/client";
import { PmlError } from "../../base/errors.ts";
import { findHttpStatus } from "../failures.ts";

/** Authenticates PML to one remote server. */
export interface ServerAuth extends AuthProvider {
  /** Makes the transport's fetch remember the token of each request: a refusal of an older token needs no renewal. */
  watch(fetchLike: FetchLike): FetchLike;
  /** Maps a failed request to the login it lacks; undefined if it failed otherwise. */
  explain(error: unknown): PmlError | undefined;
}

export type Unauthorized = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/** The login that a server asks for. */
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

/** Finds a PmlError among the causes. */
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

/** Owner of records and runs. Passed as a value; no shared object stores one. */
export interface Scope {
  readonly org: string;
  readonly project: string;
}

/** Scope of the server records that ship with PML. */
export const STANDARD_SCOPE: Scope = { org: "pml", project: "std" };

export const DEFAULT_SCOPE: Scope = { org: "local", project: "default" };

/** Stands for the holder of this machine's token in place of a principal's id. */
export const OWNER = "local";

/** The caller of an operation. Records they may not see count as absent. */
export interface Asker {
  readonly scope: Scope;
  /** Id of a principal, or `OWNER`, who sees everything in the scope. */
  readonly principal: string;
  /** True for a principal with `auth.adminScope`: it may change records of other authors. */
  readonly admin?: boolean | undefined;
  /** Name that the calling client gives itself; recorded as the author of changes under the owner's token. Grants nothing. */
  readonly client?: string | undefined;
}

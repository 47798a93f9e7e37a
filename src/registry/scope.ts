/** Whose memory is meant. Passed along as a value; no shared object ever remembers one. */
export interface Scope {
  readonly org: string;
  readonly project: string;
}

/** Where the records of servers are that everybody knows. */
export const STANDARD_SCOPE: Scope = { org: "pml", project: "std" };

export const DEFAULT_SCOPE: Scope = { org: "local", project: "default" };

/** Whoever has the token of this machine, in place of the id of a principal. */
export const OWNER = "local";

/** Who asks, and from where. What they may not see is, to them, not there. */
export interface Asker {
  readonly scope: Scope;
  /** Id of a principal, or `OWNER`, who sees everything of the scope. */
  readonly principal: string;
}

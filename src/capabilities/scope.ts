/** Whose memory is meant. Passed along as a value; no shared object ever remembers one. */
export interface Scope {
  readonly org: string;
  readonly project: string;
}

export const DEFAULT_SCOPE: Scope = { org: "local", project: "default" };

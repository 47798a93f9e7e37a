/** Limits of a server, from the configuration. */
export interface UpstreamLimits {
  readonly connectMs: number;
  /** Longest silence during a call; progress restarts it. */
  readonly callMs: number;
  /** Longest duration of a call. */
  readonly longestCallMs: number;
  readonly inFlight: number;
  readonly queued: number;
  /** Largest message of the server. */
  readonly messageBytes: number;
}

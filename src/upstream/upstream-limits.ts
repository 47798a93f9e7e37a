/** What a server may take and be given, from the configuration. */
export interface UpstreamLimits {
  readonly connectMs: number;
  /** A call may take this long without a sign of life; progress starts it anew. */
  readonly callMs: number;
  /** And this long at the very most. */
  readonly longestCallMs: number;
  readonly inFlight: number;
  readonly queued: number;
}

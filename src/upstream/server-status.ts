export type ServerState = "idle" | "connecting" | "ready" | "backoff" | "login_needed" | "stopped";

/** Status of a server for people and agents. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly since: string;
  readonly pid?: number;
  readonly protocol?: string;
  readonly inFlight: number;
  /** Duration of the last start, including the lists. */
  readonly startMs?: number;
  readonly restarts: number;
  readonly failures: number;
  readonly lastError?: string;
  readonly stderr: readonly string[];
}

export type ServerState = "idle" | "connecting" | "ready" | "backoff" | "stopped";

/** What people and agents are told about a server. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly since: string;
  readonly pid?: number;
  readonly protocol?: string;
  readonly inFlight: number;
  /** How long it took to start and list what it has, the last time. */
  readonly startMs?: number;
  readonly restarts: number;
  readonly failures: number;
  readonly lastError?: string;
  readonly stderr: readonly string[];
}

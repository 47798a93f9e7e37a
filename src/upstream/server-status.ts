export type ServerState = "idle" | "connecting" | "ready" | "backoff" | "login_needed" | "stopped";

/** What people and agents are told about a server. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly since: string;
  readonly pid?: number;
  readonly protocol?: string;
  readonly inFlight: number;
  readonly failures: number;
  readonly lastError?: string;
  readonly stderr: readonly string[];
}

import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { CallOutcome, GuestError } from "./worker-bridge.ts";
import type { JsonObject } from "../base/json.ts";

/** A call that a program makes. */
export interface ToolRequest {
  /** `server:tool`. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly runId: string;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
  /** Resolves when the call may go out and its intent is in the journal; rejects with CallRefused. */
  readonly permit: (tool: CatalogueTool) => Promise<void>;
}

/** Makes one call of a real tool and records it as a use. Rejects only when the run stopped meanwhile. */
export type CallTool = (request: ToolRequest) => Promise<CallOutcome>;

/** A call that may not be made, with the error the program sees. */
export class CallRefused extends Error {
  readonly error: GuestError;

  constructor(error: GuestError) {
    super(error.message);
    this.name = error.code ?? error.name;
    this.error = error;
  }
}

type AskPerson = (question: {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}) => Promise<Record<string, unknown>>;

interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** Who runs something, and how they can be reached while it runs. */
export interface RunCaller {
  readonly principal: string;
  /** True for a principal that may change what others made. */
  readonly admin?: boolean;
  readonly client: string | undefined;
  /** Trace context of the request, to be passed on. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Present where the client can put a question of a server before a person. */
  readonly ask?: AskPerson;
  /** Present where a form of this client may approve. */
  readonly form?: AskPerson;
  readonly onProgress?: (report: ProgressReport) => void;
}

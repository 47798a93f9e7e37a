import type { ToolFacts, ToolCatalogue } from "../analysis/structure.ts";
import type { JsonObject } from "../base/json.ts";
import type { EffectHints } from "../permissions/effect.ts";

/** A tool that programs can call. */
export interface CallableTool extends ToolFacts {
  /** Of its whole definition. */
  readonly contentHash: string;
  readonly annotations?: EffectHints;
  readonly description?: string;
}

/** All tools of the servers behind the gateway, as they are now. */
export interface ToolDirectory extends ToolCatalogue {
  findTool(server: string, tool: string): CallableTool | undefined;
  findById(id: string): CallableTool | undefined;
  readonly all: readonly CallableTool[];
  /** Changes with every change of a tool. */
  readonly version: number;
}

interface ToolRequest {
  readonly tool: string;
  readonly args: JsonObject;
  readonly runId: string;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
}

/** Makes one call of a real tool and records it as a use. Rejects when the tool could not be called. */
export type CallTool = (request: ToolRequest) => Promise<Readonly<Record<string, unknown>>>;

/** Resolves when it is known what the tool is now; what its server last said may be of another day. */
export type SettleTool = (tool: string) => Promise<void>;

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
  readonly client: string | undefined;
  /** Trace context of the request, to be passed on. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Present where the client can put a form before a person. */
  readonly ask?: AskPerson;
  readonly onProgress?: (report: ProgressReport) => void;
}

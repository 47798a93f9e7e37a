import { formatCallName } from "../../catalogue/tool-id.ts";
import type { Tool } from "@modelcontextprotocol/server";
import type { ListedCapability, ListingChoice } from "../../registry/listed-capability.ts";
import type { Registry, Resolved } from "../../registry/registry.ts";
import type { Asker, Scope } from "../../registry/scope.ts";
import { PmlError } from "../../base/errors.ts";
import type { Engine } from "../../execution/run-engine.ts";
import type { RunAnswer } from "../../contract/execute.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Effect } from "../../permissions/effect.ts";
import { askerOf, type CallContext, type OwnAnswer } from "../own-tools/own-tool.ts";
import { toRunCaller } from "../own-tools/run-caller.ts";
import { toTool } from "./capability-tool.ts";

export interface CapabilityServerParts {
  readonly registry: Registry;
  readonly scope: Scope;
  readonly engine: Pick<Engine, "execute">;
  readonly list: (asker: Asker, choice: ListingChoice) => Promise<readonly ListedCapability[]>;
  /** Returns the effects of tools, as far as they are known. */
  readonly effects: (tools: readonly string[]) => Promise<ReadonlyMap<string, Effect>>;
  readonly approvalNote: (answer: RunAnswer) => Readonly<Record<string, unknown>>;
}

const EVERYTHING: ListingChoice = { limit: undefined, pinned: [] };

/** The virtual MCP server of named capabilities: they are listed and called as the tools of any server. */
export class CapabilityServer {
  readonly serverId = "pml-capabilities";
  readonly #parts: CapabilityServerParts;

  constructor(parts: CapabilityServerParts) {
    this.#parts = parts;
  }

  async listTools(asker: Asker, choice: ListingChoice = EVERYTHING): Promise<readonly Tool[]> {
    const listed = await this.#parts.list(asker, choice);
    const effects = await this.#parts.effects([...new Set(listed.flatMap(({ tools }) => tools))]);
    return listed.map((capability) => toTool(capability, effects));
  }

  onChange(listener: () => void): () => void {
    return this.#parts.registry.onChange(listener);
  }

  /** Lists names with a prefix, to restore names that were cut. */
  async namesLike(asker: Asker, beginning: string): Promise<readonly string[]> {
    const query = { pattern: `${beginning}*`, limit: MOST_ALIKE };
    return (await this.#parts.registry.list(asker, query)).records.map(({ displayName }) => displayName);
  }

  /** `cap:fs:read_json`, `cap:fs:read_json@v1`, `cap:acme.shared:fs:read_json`, and former names. */
  resolve(asker: Asker, name: string): Promise<Resolved> {
    return this.#parts.registry.resolve(asker, name);
  }

  async callTool(name: string, input: unknown, context: CallContext): Promise<OwnAnswer> {
    try {
      return await this.call(await this.resolve(askerOf(this.#parts.scope, context), name), input, context);
    } catch (error) {
      return toFailure(error, context);
    }
  }

  /** Runs a capability whose name was resolved already. */
  async call(resolved: Resolved, input: unknown, context: CallContext): Promise<OwnAnswer> {
    const { engine, scope, approvalNote } = this.#parts;
    const { description, displayName } = resolved.capability;
    const args = (input ?? {}) as JsonObject;
    const intent = description ?? displayName;
    try {
      const answer = await engine.execute(
        scope,
        { kind: "capability", capability: resolved, args, intent, options: {} },
        { caller: toRunCaller(context), signal: context.signal },
      );
      return toResult(answer, approvalNote);
    } catch (error) {
      return toFailure(error, context);
    }
  }
}

function toResult(answer: RunAnswer, note: CapabilityServerParts["approvalNote"]): OwnAnswer {
  switch (answer.status) {
    case "success":
      return { kind: "value", value: answer.result, meta: describeRun(answer) };
    case "error":
      return { ...failure(answer.error.message), meta: describeRun(answer) };
    case "approval_required":
    case "layer_complete":
    case "dry_run":
    default:
      return { kind: "json", value: note(answer), failed: true };
  }
}

function toFailure(error: unknown, { signal }: CallContext): OwnAnswer {
  if (!(error instanceof PmlError) || signal.aborted) throw error;
  return failure(error.message);
}

function failure(text: string): Extract<OwnAnswer, { kind: "content" }> {
  return { kind: "content", content: [{ type: "text", text }], failed: true };
}

const MOST_ALIKE = 200;
const RUN_KEY = "dev.pml/run";
const WARNINGS_KEY = "dev.pml/warnings";

/** Metadata for the agent besides the result; names, never FQDNs. */
function describeRun({ capabilityName, version, workflowId, warnings }: RunAnswer): Record<string, JsonValue> {
  return {
    [RUN_KEY]: {
      capability: formatCallName(capabilityName ?? ""),
      version: version ?? 0,
      run: workflowId ?? "",
    },
    ...(warnings.length === 0 ? {} : { [WARNINGS_KEY]: [...warnings] }),
  };
}

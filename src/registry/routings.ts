import type { Db } from "../db/client.ts";
import type { CapabilityRecord, Routing } from "./record.ts";
import { inheritRoutings, listChanged, listUsedTools, setExplicitRouting } from "./routing-store.ts";
import type { Scope } from "./scope.ts";

export interface RoutingsOptions {
  readonly db: Db;
  /** Where the tool `server:tool` runs. */
  readonly routingOf: (toolId: string) => Routing;
  readonly onError: (error: unknown) => void;
}

/** State of a scope at the last read. */
interface ScopeSnapshot {
  readonly readAt: Date;
  /** Routings of the tools in use at that time. */
  readonly tools: Map<string, Routing>;
}

/** Routings of capabilities: local if any tool is, unless set explicitly. */
export class Routings {
  readonly #options: RoutingsOptions;
  /** Refresh in progress by scope, and whether another one must follow. */
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();

  readonly #snapshots = new Map<string, ScopeSnapshot>();

  constructor(options: RoutingsOptions) {
    this.#options = options;
  }

  /** Starts an update in the background; requests during an update collapse into one that follows it. */
  refresh(scope: Scope): void {
    const key = keyOf(scope);
    const running = this.#running.get(key);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const done = this.update(scope)
      .catch(this.#options.onError)
      .then(() => {
        const again = this.#running.get(key)?.again === true;
        this.#running.delete(key);
        if (again) this.refresh(scope);
      });
    this.#running.set(key, { again: false, done });
  }

  /** Updates stored routings. Reads only changed records unless a tool's routing changed. */
  async update(scope: Scope): Promise<void> {
    const { db, routingOf } = this.#options;
    const key = keyOf(scope);
    const snapshot = this.#snapshots.get(key);
    const toolsUnchanged =
      snapshot !== undefined && [...snapshot.tools].every(([tool, routing]) => routingOf(tool) === routing);
    const { readAt, ids: changed } = await listChanged(db, scope, snapshot?.readAt);
    const ids = toolsUnchanged ? changed : undefined;
    const used = await listUsedTools(db, scope, ids);
    const tools = new Map([
      ...(toolsUnchanged ? snapshot.tools : []),
      ...used.map((tool) => [tool, routingOf(tool)] as const),
    ]);
    await inheritRoutings(db, scope, { localTools: used.filter((tool) => tools.get(tool) === "local"), ids });
    this.#snapshots.set(key, { readAt, tools });
  }

  /** Makes the next update read every record, for imported ones with old timestamps. */
  forget(scope: Scope): void {
    this.#snapshots.delete(keyOf(scope));
  }

  /** The stored routing, or the one inherited from the tools. */
  of({ routing, toolsUsed }: Pick<CapabilityRecord, "routing" | "toolsUsed">): Routing {
    return routing ?? inheritRouting(toolsUsed, this.#options.routingOf);
  }

  /** Sets the routing; undefined makes it inherited again. */
  async set(
    { org, project, id }: Pick<CapabilityRecord, "org" | "project" | "id">,
    routing: Routing | undefined,
  ): Promise<void> {
    await setExplicitRouting(this.#options.db, { org, project }, { id, routing });
    await this.update({ org, project });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}

function keyOf({ org, project }: Scope): string {
  return `${org}/${project}`;
}

/** One local tool forces the whole program to run locally. */
export function inheritRouting(tools: readonly string[], routingOf: (toolId: string) => Routing): Routing {
  return tools.some((tool) => routingOf(tool) === "local") ? "local" : "cloud";
}

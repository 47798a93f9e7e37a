import type { Db } from "../db/client.ts";
import type { CapabilityRecord, Routing } from "./record.ts";
import { inheritRoutings, listUsedTools, setExplicitRouting } from "./routing-store.ts";
import type { Scope } from "./scope.ts";

export interface RoutingsOptions {
  readonly db: Db;
  /** Where a tool runs; `server:tool`. */
  readonly routingOf: (toolId: string) => Routing;
  readonly onError: (error: unknown) => void;
}

/** Where capabilities run: local as soon as one of their tools is, unless somebody said otherwise. */
export class Routings {
  readonly #options: RoutingsOptions;
  /** By scope: the refresh that is under way, and whether another one has to follow. */
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();

  constructor(options: RoutingsOptions) {
    this.#options = options;
  }

  /** Brings what is kept with the records up to date. However often it is asked for, one runs and one follows. */
  refresh(scope: Scope): void {
    const key = `${scope.org}/${scope.project}`;
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

  /** The same, to be waited for. */
  async update(scope: Scope): Promise<void> {
    const { db, routingOf } = this.#options;
    const tools = await listUsedTools(db, scope);
    await inheritRoutings(
      db,
      scope,
      tools.filter((tool) => routingOf(tool) === "local"),
    );
  }

  /** What is kept where it is known, and otherwise what follows from the tools. */
  of({ routing, toolsUsed }: Pick<CapabilityRecord, "routing" | "toolsUsed">): Routing {
    return routing ?? inheritRouting(toolsUsed, this.#options.routingOf);
  }

  /** undefined: inherited again. */
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

/** Nothing that would have to run here can run anywhere. */
export function inheritRouting(tools: readonly string[], routingOf: (toolId: string) => Routing): Routing {
  return tools.some((tool) => routingOf(tool) === "local") ? "local" : "cloud";
}

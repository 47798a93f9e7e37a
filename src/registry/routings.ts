import type { Db } from "../db/client.ts";
import type { CapabilityRecord, Routing } from "./record.ts";
import { inheritRoutings, listChanged, listUsedTools, setExplicitRouting } from "./routing-store.ts";
import type { Scope } from "./scope.ts";

export interface RoutingsOptions {
  readonly db: Db;
  /** Where a tool runs; `server:tool`. */
  readonly routingOf: (toolId: string) => Routing;
  readonly onError: (error: unknown) => void;
}

/** What is known of a scope since it was looked at last. */
interface Seen {
  readonly readAt: Date;
  /** Where the tools that are used ran then. */
  readonly tools: Map<string, Routing>;
}

/** Where capabilities run: local as soon as one of their tools is, unless somebody said otherwise. */
export class Routings {
  readonly #options: RoutingsOptions;
  /** By scope: the refresh that is under way, and whether another one has to follow. */
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();

  readonly #seen = new Map<string, Seen>();

  constructor(options: RoutingsOptions) {
    this.#options = options;
  }

  /** Brings what is kept with the records up to date. However often it is asked for, one runs and one follows. */
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

  /** The same, to be waited for. As long as every tool runs where it did, only what changed is looked at. */
  async update(scope: Scope): Promise<void> {
    const { db, routingOf } = this.#options;
    const key = keyOf(scope);
    const seen = this.#seen.get(key);
    const stays = seen !== undefined && [...seen.tools].every(([tool, routing]) => routingOf(tool) === routing);
    const { readAt, ids: changed } = await listChanged(db, scope, seen?.readAt);
    const ids = stays ? changed : undefined;
    const used = await listUsedTools(db, scope, ids);
    const tools = new Map([...(stays ? seen.tools : []), ...used.map((tool) => [tool, routingOf(tool)] as const)]);
    await inheritRoutings(db, scope, { localTools: used.filter((tool) => tools.get(tool) === "local"), ids });
    this.#seen.set(key, { readAt, tools });
  }

  /** Everything is looked at again: records came that changed long ago elsewhere. */
  forget(scope: Scope): void {
    this.#seen.delete(keyOf(scope));
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

function keyOf({ org, project }: Scope): string {
  return `${org}/${project}`;
}

/** Nothing that would have to run here can run anywhere. */
export function inheritRouting(tools: readonly string[], routingOf: (toolId: string) => Routing): Routing {
  return tools.some((tool) => routingOf(tool) === "local") ? "local" : "cloud";
}

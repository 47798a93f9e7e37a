import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import { replaceTemplateEdges } from "./edge-store.ts";
import { type Connectable, createProvidesEdges, type ProvidesEdge } from "./provides-edge-calculator.ts";

export interface TemplateEdgesOptions {
  readonly db: Db;
  readonly scope: Scope;
  /** All tools with their known result schemas. */
  readonly readTools: () => Promise<readonly Connectable[]>;
  readonly onError: (error: unknown) => void;
}

/** Debounce: servers connect and disconnect in bursts. */
const DEBOUNCE_MS = 1_000;
const MAX_EDGES = 10_000;

/** Keeps the scope's template edges in step with the schemas of its tools. */
export class TemplateEdges implements AsyncDisposable {
  readonly #options: TemplateEdgesOptions;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #written = "";

  constructor(options: TemplateEdgesOptions) {
    this.#options = options;
  }

  /** Schedules a refresh. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#working = this.#working.then(() => this.#refresh()).catch(this.#options.onError);
    }, DEBOUNCE_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#working;
  }

  async #refresh(): Promise<void> {
    const { db, scope, readTools } = this.#options;
    const edges = createProvidesEdges(await readTools()).slice(0, MAX_EDGES);
    const key = edges.map(({ from, to }: ProvidesEdge) => `${from} ${to}`).join("\n");
    if (key === this.#written) return;
    await replaceTemplateEdges(db, scope, edges);
    this.#written = key;
  }
}

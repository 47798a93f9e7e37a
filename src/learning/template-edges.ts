import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import { replaceTemplateEdges } from "./edge-store.ts";
import { type Connectable, createProvidesEdges, type ProvidesEdge } from "./provides-edge-calculator.ts";

export interface TemplateEdgesOptions {
  readonly db: Db;
  readonly scope: Scope;
  /** All tools, with the shapes of their results as far as they are known. */
  readonly readTools: () => Promise<readonly Connectable[]>;
  readonly onError: (error: unknown) => void;
}

/** Servers come and go in bunches. */
const COALESCE_MS = 1_000;
/** Far more than is of use to anybody. */
const MOST_EDGES = 10_000;

/** Keeps in the graph what schemas say could be connected, as long as no program and no run says more. */
export class TemplateEdges implements AsyncDisposable {
  readonly #options: TemplateEdgesOptions;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #written = "";

  constructor(options: TemplateEdgesOptions) {
    this.#options = options;
  }

  /** Something changed; it is looked at soon. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#working = this.#working.then(() => this.#refresh()).catch(this.#options.onError);
    }, COALESCE_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#working;
  }

  async #refresh(): Promise<void> {
    const { db, scope, readTools } = this.#options;
    const edges = createProvidesEdges(await readTools()).slice(0, MOST_EDGES);
    const key = edges.map(({ from, to }: ProvidesEdge) => `${from} ${to}`).join("\n");
    if (key === this.#written) return;
    await replaceTemplateEdges(db, scope, edges);
    this.#written = key;
  }
}

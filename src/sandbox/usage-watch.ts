import type { ProgramRun } from "./program-run.ts";
import { createUsageReader, type UsageReader } from "./process-usage.ts";

export interface WatchedRun {
  readonly run: ProgramRun;
  readonly pid: number;
}

/** Ends runs whose process exceeds its memory or CPU limit. Measures only while a run is active. */
export class UsageWatch implements Disposable {
  readonly #reader: UsageReader | undefined;
  readonly #list: () => readonly WatchedRun[];
  #timer: NodeJS.Timeout | undefined;

  constructor(list: () => readonly WatchedRun[], reader: UsageReader | undefined = createUsageReader()) {
    this.#list = list;
    this.#reader = reader;
  }

  get measures(): boolean {
    return this.#reader !== undefined;
  }

  /** Starts measuring unless it already does. */
  wake(): void {
    if (this.#timer !== undefined || this.#reader === undefined) return;
    const reader = this.#reader;
    this.#timer = setTimeout(() => void this.#measure(reader), reader.everyMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  async #measure(reader: UsageReader): Promise<void> {
    const watched = this.#list();
    const usages = await reader.read(watched.map(({ pid }) => pid));
    for (const { run, pid } of watched) {
      const usage = usages.get(pid);
      if (usage === undefined || run.hasEnded) continue;
      run.firstCpuMs ??= usage.cpuMs;
      run.cpuMs = usage.cpuMs - run.firstCpuMs;
      if (usage.rssMb > run.limits.maxRssMb) run.exceed("maxRssMb");
      else if (run.cpuMs > run.limits.cpuMs) run.exceed("cpuMs");
    }
    this.#timer = undefined;
    if (this.#list().length > 0) this.wake();
  }
}

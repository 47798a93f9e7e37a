import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";
import type { EventBus } from "../../base/events.ts";
import { countWithoutSuggestion } from "./nameable-store.ts";

export interface UnnamedWatch {
  readonly db: Db;
  readonly scope: Scope;
  readonly events: EventBus;
  /** 0 disables the watch. */
  readonly afterUnnamed: number;
  readonly onEnough: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Counts after every change of the scope and calls `onEnough` at the threshold. */
export function watchUnnamed({ db, scope, events, afterUnnamed, onEnough, onError }: UnnamedWatch): Disposable {
  let counting = false;
  let again = false;
  const count = async (): Promise<void> => {
    if (counting) {
      again = true;
      return;
    }
    counting = true;
    try {
      do {
        again = false;
        if ((await countWithoutSuggestion(db, scope)) >= afterUnnamed) await onEnough();
      } while (readAgain());
    } finally {
      counting = false;
    }
  };
  // Hides the narrowing of `again`, which another call sets during the await.
  const readAgain = (): boolean => again;
  if (afterUnnamed === 0) return { [Symbol.dispose]: () => undefined };
  const stop = events.subscribe(({ kind, org, project }) => {
    if (kind === "scope_changed" && org === scope.org && project === scope.project) count().catch(onError);
  });
  return { [Symbol.dispose]: stop };
}

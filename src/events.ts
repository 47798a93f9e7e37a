/** What happened inside PML, told after it was committed. The edge turns it into notifications. */
type PmlEvent = { readonly kind: "scope_changed"; readonly org: string; readonly project: string };

export interface EventBus {
  publish(event: PmlEvent): void;
  /** Returns what ends the subscription. */
  subscribe(listener: (event: PmlEvent) => void): () => void;
}

export function createEventBus(): EventBus {
  const listeners = new Set<(event: PmlEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

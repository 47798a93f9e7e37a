/** What happened inside PML, told after it was committed. The edge turns it into notifications. */
export type PmlEvent = { readonly org: string; readonly project: string } & (
  | { readonly kind: "scope_changed" }
  /** Of this gateway: its files say something else. */
  | { readonly kind: "permissions_changed" }
  /** PML looked for names by itself: so many were given, so many wait for somebody to decide. */
  | { readonly kind: "names_suggested"; readonly applied: number; readonly waiting: number }
  | { readonly kind: "approval_requested"; readonly approvalId: string; readonly runId: string }
  /** It is no longer pending, for whatever reason. */
  | {
      readonly kind: "approval_decided";
      readonly approvalId: string;
      readonly runId: string;
      readonly state: "approved" | "refused" | "expired" | "superseded";
    }
);

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

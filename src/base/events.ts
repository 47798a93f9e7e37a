/** Events inside PML, published after commit. The edge turns them into notifications. */
export type PmlEvent = { readonly org: string; readonly project: string } & (
  | { readonly kind: "scope_changed" }
  /** The permission files of this gateway changed. */
  | { readonly kind: "permissions_changed" }
  /** A curation pass ended: numbers of names applied and of names that wait for a decision. */
  | { readonly kind: "names_suggested"; readonly applied: number; readonly waiting: number }
  | { readonly kind: "approval_requested"; readonly approvalId: string; readonly runId: string }
  /** The approval is no longer pending. */
  | {
      readonly kind: "approval_decided";
      readonly approvalId: string;
      readonly runId: string;
      readonly state: "approved" | "refused" | "expired" | "superseded";
    }
);

export interface EventBus {
  publish(event: PmlEvent): void;
  /** Returns a function that ends the subscription. */
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

import type { ErrorReport } from "../base/errors.ts";

/** Messages between the gateway and the thread of the embedded engine. */
export type ToWorker = { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> } | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "fatal"; readonly error: ErrorReport }
  | { readonly kind: "closed" };

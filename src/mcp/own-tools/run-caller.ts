import { OWNER } from "../../registry/scope.ts";
import type { RunCaller } from "../../execution/ports.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import type { CallContext } from "./own-tool.ts";

/** Converts the caller of a tool to the caller of a run. */
export function toRunCaller({ principal = OWNER, admin, client, meta, ask, form, progress }: CallContext): RunCaller {
  return withoutUndefined({ principal, admin, client, meta, ask, form, onProgress: progress }) as RunCaller;
}

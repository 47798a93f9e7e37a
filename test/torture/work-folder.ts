import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registerCleanup } from "./cleanup.ts";

export interface WorkFolder extends Disposable {
  readonly path: string;
}

/** Creates a folder that is removed afterwards, also when the run is interrupted. */
export function makeWorkFolder(name: string): WorkFolder {
  const path = mkdtempSync(join(tmpdir(), `pml-torture-${name}-`));
  const cleanup = registerCleanup(() => rmSync(path, { recursive: true, force: true }));
  return { path, [Symbol.dispose]: () => cleanup[Symbol.dispose]() };
}

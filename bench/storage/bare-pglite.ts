import { PGlite } from "@electric-sql/pglite";
import { createBareEngine } from "./bare-engine.ts";
import type { BenchEngine } from "./engine.ts";

/** As in its manual: in the caller's thread, and without fsync, so that a power cut may lose everything. */
export async function openBarePglite(directory: string): Promise<BenchEngine> {
  const engine = await PGlite.create(directory);
  return createBareEngine({
    query: (text, values) => engine.query(text, values),
    script: (statements) => engine.exec(statements),
    [Symbol.asyncDispose]: () => engine.close(),
  });
}

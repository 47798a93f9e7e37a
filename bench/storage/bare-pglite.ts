import { PGlite } from "@electric-sql/pglite";
import { createBareEngine } from "./bare-engine.ts";
import type { Engine } from "./engine.ts";

/** As its manual shows it: in the caller's thread, and without fsync, so a power cut may lose everything. */
export async function openBarePglite(directory: string): Promise<Engine> {
  const engine = await PGlite.create(directory);
  return createBareEngine({
    query: (text, values) => engine.query(text, values),
    script: (statements) => engine.exec(statements),
    [Symbol.asyncDispose]: () => engine.close(),
  });
}

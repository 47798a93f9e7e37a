import pg from "pg";
import { createBareEngine } from "./bare-engine.ts";
import type { BenchEngine } from "./engine.ts";

export async function openBarePg(url: string): Promise<BenchEngine> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return createBareEngine({
    query: (text, values) => client.query(text, values),
    script: (statements) => client.query(statements),
    [Symbol.asyncDispose]: () => client.end(),
  });
}

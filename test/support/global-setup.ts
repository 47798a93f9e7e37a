import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packageRoot } from "../../src/base/package-info.ts";
import { startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the throw-away PostgreSQL server, with the database's name left out. */
    postgresUrl: string;
  }
}

/**
 * Once for the whole suite: the template of the embedded database, and a PostgreSQL server. A script that runs
 * the suite many times gives the address of one server in `PML_TEST_POSTGRES_URL`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync(process.execPath, [join(packageRoot, "scripts", "build-template.ts")], { stdio: "inherit" });
  const running = process.env["PML_TEST_POSTGRES_URL"];
  if (running !== undefined) {
    project.provide("postgresUrl", running);
    return () => Promise.resolve();
  }
  const server = await startPostgres();
  project.provide("postgresUrl", server.url(""));
  return async () => server[Symbol.asyncDispose]();
}

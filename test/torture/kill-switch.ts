/**
 * Loaded into a daemon before anything else (`node --import`): kills it before or after a statement that a request
 * sends to the database. A header of the request selects the statement. Statement 0 kills nothing and logs all
 * statements to the file that the environment names.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { isMainThread } from "node:worker_threads";
import pg from "pg";
import { KILL_AT_HEADER, STATEMENTS_FILE } from "./kill-switch-names.ts";

let killAt: number | undefined;
let passed = 0;

function step(moment: string, statement: unknown): void {
  if (killAt === undefined) return;
  passed += 1;
  if (passed === killAt) process.kill(process.pid, "SIGKILL");
  const text = String((statement as { text?: unknown }).text ?? statement).replaceAll(/\s+/g, " ");
  if (killAt === 0) appendFileSync(process.env[STATEMENTS_FILE] ?? "", `${moment} ${text.slice(0, 60)}\n`);
}

function watchRequests(): void {
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    const wanted = request.headers[KILL_AT_HEADER];
    if (wanted !== undefined) killAt = Number(wanted);
  });
}

type ClientQuery = (this: pg.Client, ...values: unknown[]) => unknown;

function watchStatements(): void {
  const query = Reflect.get(pg.Client.prototype, "query") as ClientQuery;
  const watched: ClientQuery = function (...values) {
    const [statement] = values;
    step("before", statement);
    const last = values.at(-1);
    if (typeof last === "function") {
      const answered = (...answer: unknown[]): unknown => {
        step("after", statement);
        return (last as (...answer: unknown[]) => unknown)(...answer);
      };
      return query.apply(this, [...values.slice(0, -1), answered]);
    }
    const answer = query.apply(this, values);
    return answer instanceof Promise ? answer.finally(() => step("after", statement)) : answer;
  };
  pg.Client.prototype.query = watched as unknown as typeof pg.Client.prototype.query;
}

if (isMainThread) {
  watchRequests();
  watchStatements();
}

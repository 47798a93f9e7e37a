/**
 * Opens a database after a fault and prints its state as one JSON line. Runs as a separate process, because an engine
 * that cannot recover aborts its process.
 *
 *     node inspect.ts <home> <ledger> <ours|default>
 */
import { engineKinds, openEngine } from "./engine.ts";
import { checkIndexes } from "./index-check.ts";
import { readLedger } from "./ledger.ts";
import { verifyTransactions } from "./transactions.ts";
import type { DatabaseFindings } from "./transactions.ts";

const [home = "", ledger = "", wanted = ""] = process.argv.slice(2);
const kind = engineKinds.find((known) => known === wanted);
if (home === "" || kind === undefined) throw new Error("usage: inspect.ts <home> <ledger> <ours|default>");

async function verify(engineKind: (typeof engineKinds)[number]): Promise<DatabaseFindings> {
  await using engine = await openEngine(home, engineKind);
  return await verifyTransactions(engine.db, readLedger(ledger));
}

const findings = await verify(kind);
const indexes = await checkIndexes(home);
console.log(JSON.stringify({ findings, indexes }));
// The engine of the check still runs in this thread.
process.exit(0);

/**
 * The process under test: opens the database, checks the transactions acknowledged before, then writes until it is
 * killed, and prints each acknowledged transaction.
 *
 *     node writer.ts <home> <ledger> <ours|default>
 */
import { randomInt, randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { sql } from "kysely";
import { engineKinds, openEngine } from "./engine.ts";
import { readLedger } from "./ledger.ts";
import { isIntact, verifyTransactions, writeTransaction } from "./transactions.ts";
import type { Db } from "../../src/db/client.ts";

const CHECKPOINT_EVERY = 40;
const VACUUM_EVERY = 150;
const LARGE_EVERY = 10;

/** Writes to the descriptor directly: the output has left this process before the next statement runs. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function writeForever(db: Db, earlier: string[]): Promise<never> {
  for (let count = 1; ; count += 1) {
    const id = randomUUID();
    const counted = earlier.length === 0 ? undefined : earlier[randomInt(earlier.length)];
    const bytes = count % LARGE_EVERY === 0 ? 20_000 : randomInt(100, 2_000);
    await writeTransaction(db, { id, counted, bytes });
    say(`ack ${id}`);
    earlier.push(id);
    // Makes kills possible while data files are flushed or vacuumed, too.
    if (count % CHECKPOINT_EVERY === 0) await sql`CHECKPOINT`.execute(db);
    if (count % VACUUM_EVERY === 0) await sql`VACUUM (ANALYZE)`.execute(db);
  }
}

const [home = "", ledger = "", wanted = ""] = process.argv.slice(2);
const kind = engineKinds.find((known) => known === wanted);
if (home === "" || kind === undefined) throw new Error("usage: writer.ts <home> <ledger> <ours|default>");
const acknowledged = readLedger(ledger);
await using engine = await openEngine(home, kind);
const findings = await verifyTransactions(engine.db, acknowledged);
say(`verified ${JSON.stringify(findings)}`);
if (isIntact(findings)) await writeForever(engine.db, acknowledged);

/**
 * Writes until the disk is full, shows that reading still works, waits for space, and continues writing.
 *
 *     node disk-filler.ts <home>
 *
 * Prints `ack <id>`, `full <sqlstate> <message>`, `read <rows>`, `resumed <count>` and `closed`, and takes the next step
 * with each line on stdin.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openEngine } from "./engine.ts";
import { verifyTransactions, writeTransaction } from "./transactions.ts";
import type { Db } from "../../src/db/client.ts";

const ENTRY_BYTES = 20_000;
/** Writers keep trying while the disk is full, and the engine must survive that. */
const ATTEMPTS_WHILE_FULL = 200;
const ENTRIES_AFTERWARDS = 100;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function writeOne(db: Db): Promise<boolean> {
  const id = randomUUID();
  try {
    await writeTransaction(db, { id, counted: undefined, bytes: ENTRY_BYTES });
    say(`ack ${id}`);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "none";
    say(`full ${code} ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

async function read(db: Db): Promise<void> {
  const { committed } = await verifyTransactions(db, []);
  say(`read ${committed}`);
}

const [home = ""] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
{
  await using engine = await openEngine(home, "ours");
  while (await writeOne(engine.db));
  for (let attempt = 0; attempt < ATTEMPTS_WHILE_FULL; attempt += 1) await writeOne(engine.db);
  await read(engine.db);
  say("waiting");
  await once(lines, "line");
  let resumed = 0;
  for (let count = 0; count < ENTRIES_AFTERWARDS; count += 1) resumed += (await writeOne(engine.db)) ? 1 : 0;
  say(`resumed ${resumed}`);
}
say("closed");
lines.close();

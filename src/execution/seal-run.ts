import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { JournalEntry } from "./journal.ts";
import type { Run, RunRecord, StoredRun } from "./run-store.ts";

/** The run as it is stored until it ends: placeholders, and the sealed secrets that another process needs to resume it. */
export function sealRun(run: Run): RunRecord {
  const { secrets, args, options } = run;
  const { value, sealed } = secrets.seal({ args, program: secrets.program }, contextOf(run));
  if (sealed === undefined) return run;
  return { ...run, args: value.args, options: { ...options, sealed } };
}

/** Puts the sealed secrets of a stored run back. */
export function openRun(stored: StoredRun, secrets: RunSecrets): StoredRun & Run {
  const { sealed, ...options } = stored.options;
  if (sealed === undefined) return { ...stored, secrets };
  secrets.open(sealed, contextOf(stored));
  return { ...stored, options, args: secrets.restore(stored.args), secrets };
}

/** Entries as they are stored until the run ends; the last one holds their secrets, if there are any. */
export function sealEntries(run: Run, entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const last = entries.at(-1);
  if (last === undefined) return entries;
  const { value, sealed } = run.secrets.seal(entries, contextOf(run));
  if (sealed === undefined) return entries;
  return [...value, { kind: "sealed", seq: last.seq, text: sealed }];
}

/** Puts the sealed secrets of stored entries back. */
export function openEntries(run: Run, entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const { secrets } = run;
  for (const entry of entries) if (entry.kind === "sealed") secrets.open(entry.text, contextOf(run));
  const rest = entries.filter(({ kind }) => kind !== "sealed");
  return rest.length === entries.length ? rest : secrets.restore(rest);
}

/** Binds sealed text to its run. */
function contextOf({ id, scope }: Pick<Run, "id" | "scope">): readonly string[] {
  return ["run", scope.org, id];
}

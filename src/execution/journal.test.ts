import { expect, test } from "vitest";
import { Journal, type JournalEntry } from "./journal.ts";

const decision = (outcome: string) => ({ kind: "decision", node: "d1", loop: "", outcome }) as const;

function createWriter(): { written: string[]; write(entries: readonly JournalEntry[]): Promise<void>; fail: boolean } {
  const writer = {
    written: [] as string[],
    fail: false,
    async write(entries: readonly JournalEntry[]) {
      await Promise.resolve();
      if (writer.fail) throw new Error("disk full");
      for (const entry of entries) if (entry.kind === "decision") writer.written.push(entry.outcome);
    },
  };
  return writer;
}

test("the durable part is a prefix, in order, each entry once", async () => {
  const writer = createWriter();
  const journal = new Journal((entries) => writer.write(entries));
  journal.append(decision("a"));
  const first = journal.flush();
  journal.append(decision("b"));
  journal.append(decision("c"));
  await Promise.all([first, journal.flush(), journal.flush()]);
  expect(writer.written).toEqual(["a", "b", "c"]);
});

test("a failed write rejects, and the next one includes its entries", async () => {
  const writer = createWriter();
  const journal = new Journal((entries) => writer.write(entries));
  journal.append(decision("a"));
  writer.fail = true;
  await expect(journal.flush()).rejects.toThrow("disk full");
  writer.fail = false;
  journal.append(decision("b"));
  await journal.flush();
  expect(writer.written).toEqual(["a", "b"]);
});

test("flushes after a delay", async () => {
  const writer = createWriter();
  const journal = new Journal((entries) => writer.write(entries));
  journal.append(decision("a"));
  await expect.poll(() => writer.written).toEqual(["a"]);
});

test("continues after recorded entries, and close returns those not durable yet", async () => {
  const recorded: JournalEntry = { ...decision("a"), seq: 0 };
  const journal = new Journal(() => Promise.reject(new Error("no write expected")), [recorded]);
  expect(journal.append(decision("b"))).toBe(1);
  expect(await journal.close()).toEqual([{ ...decision("b"), seq: 1 }]);
});

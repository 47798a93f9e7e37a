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

test("what is durable is a prefix, in order, each entry once", async () => {
  const writer = createWriter();
  const journal = new Journal((entries) => writer.write(entries));
  journal.append(decision("a"));
  const first = journal.flush();
  journal.append(decision("b"));
  journal.append(decision("c"));
  await Promise.all([first, journal.flush(), journal.flush()]);
  expect(writer.written).toEqual(["a", "b", "c"]);
});

test("a write that failed is told, and made up for by the next one", async () => {
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

test("writes by itself after a while", async () => {
  const writer = createWriter();
  const journal = new Journal((entries) => writer.write(entries));
  journal.append(decision("a"));
  await expect.poll(() => writer.written).toEqual(["a"]);
});

test("goes on after what is recorded, and hands out what is not yet durable", async () => {
  const recorded: JournalEntry = { ...decision("a"), seq: 0 };
  const journal = new Journal(() => Promise.reject(new Error("no write expected")), [recorded]);
  expect(journal.append(decision("b"))).toBe(1);
  expect(await journal.close()).toEqual([{ ...decision("b"), seq: 1 }]);
});

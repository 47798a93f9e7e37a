import { expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { callJson, startNamesGateway } from "../support/names-scene.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson } from "../support/pml.ts";

interface Page {
  readonly records: readonly { readonly display_name: string }[];
  readonly total: number | null;
  readonly next_cursor: string | null;
}

const COUNT = 30;

test("dns:query and pml list give every record once, also where a page is larger than an answer may be", async () => {
  await using home = await startNamesGateway({ results: { maxBytes: 6_000 } });
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const names = Array.from({ length: COUNT }, (_, n) => `bulk:entry_${String(n).padStart(2, "0")}`);
  for (const name of names) {
    const description = `Gives ${name} back. ${"Many words. ".repeat(20)}`;
    await execute(client, { name, code: `return ${JSON.stringify(name)}`, description });
  }
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const { value } = await callJson<Page>(client, "dns:query", {
      namespace: "bulk",
      limit: 25,
      ...(cursor === undefined ? {} : { cursor }),
    });
    seen.push(...value.records.map((record) => record.display_name));
    expect(value.total ?? COUNT).toBe(COUNT);
    cursor = value.next_cursor;
  }
  expect(seen).toEqual(names);
  expect(pages).toBeGreaterThan(2);
  const listed = await runJson<Page["records"]>(["list", "--ns", "bulk", "--limit", "100"], { home: home.path });
  expect(listed.map((record) => record.display_name)).toEqual(names);
});

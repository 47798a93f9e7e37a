import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { createKeptResults, type PageRequest } from "./kept-results.ts";

const scope = { org: "o", project: "p" };
const principal = "018f0000-0000-7000-8000-00000000000a";
const call = { tool: "s:t", principal, status: "success", contentType: "text/plain" } as const;

describe.each(engines)("kept results on %s", (engine) => {
  let client: DatabaseClient;
  beforeAll(async () => {
    client = await openTestDatabase(engine);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  async function readAll(request: Omit<PageRequest, "offset" | "principal">): Promise<string> {
    const results = createKeptResults(client.db, scope);
    let text = "";
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page = await results.readPage({ ...request, principal, offset });
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(request.limit);
      text += page.text;
      offset = page.nextOffset;
    }
    return text;
  }

  test.each([4, 5, 7, 1_000, 100_000])("pages of %i bytes put together are the whole text", async (limit) => {
    const text = "aé\u2028😀".repeat(limit < 10 ? 20 : 5_000);
    const kept = await createKeptResults(client.db, scope).keep({ ...call, text }, 60);
    expect(await readAll({ ...kept, limit, format: "raw" })).toBe(text);
    expect(await readAll({ ...kept, limit, format: "pretty" })).toBe(text);
  });

  test("a page begins with a whole character, and one beyond the end is empty", async () => {
    const results = createKeptResults(client.db, scope);
    const kept = await results.keep({ ...call, text: "é😀x" }, 60);
    const raw = { ...kept, principal, limit: 10, format: "raw" } as const;
    expect(await results.readPage({ ...raw, offset: 1 })).toMatchObject({ offset: 2, text: "😀x", totalBytes: 7 });
    expect(await results.readPage({ ...raw, offset: 70 })).toMatchObject({ text: "", nextOffset: undefined });
  });

  test("pretty indents JSON", async () => {
    const value = { a: [1, "é"] };
    const results = createKeptResults(client.db, scope);
    const text = JSON.stringify(value);
    const kept = await results.keep({ ...call, contentType: "application/json", text }, 60);
    expect(await readAll({ ...kept, limit: 8, format: "raw" })).toBe(text);
    expect(await readAll({ ...kept, limit: 8, format: "pretty" })).toBe(JSON.stringify(value, null, 2));
  });

  test("what expired says when, what is unknown, another project's or another's is not found", async () => {
    const results = createKeptResults(client.db, scope);
    const first = { principal, offset: 0, limit: 10, format: "raw" } as const;
    const gone = await results.keep({ ...call, text: "x" }, -5);
    await expect(results.readPage({ ...gone, ...first })).rejects.toMatchObject({
      code: "result_expired",
      message: `The result of s:t expired at ${gone.expiresAt.toISOString()}`,
    });
    const kept = await results.keep({ ...call, text: "x" }, 60);
    const elsewhere = createKeptResults(client.db, { ...scope, project: "other" });
    for (const missing of [
      () => elsewhere.readPage({ ...kept, ...first }),
      () => results.readPage({ ...kept, ...first, task: "b" }),
      () => results.readPage({ ...kept, ...first, principal: undefined }),
    ]) {
      await expect(missing()).rejects.toMatchObject({ code: "result_not_found" });
    }
  });
});

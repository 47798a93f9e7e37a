import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { createKeptResults, type PageRequest } from "./kept-results.ts";

const scope = { org: "o", project: "p" };
const principal = "018f0000-0000-7000-8000-00000000000a";
const call = { tool: "s:t", principal, status: "success", contentType: "text/plain" } as const;

const limits = { maxKept: 3, maxKeptBytes: 64 * 1024 * 1024 };

describe.each(engines)("kept results on %s", (engine) => {
  let client: DatabaseClient;
  beforeAll(async () => {
    client = await openTestDatabase(engine);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  async function readAll(request: Omit<PageRequest, "offset" | "principal">): Promise<string> {
    const results = createKeptResults(client.db, scope, limits);
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
    const kept = await createKeptResults(client.db, scope, limits).keep({ ...call, text }, 60);
    expect(await readAll({ ...kept, limit, format: "raw" })).toBe(text);
    expect(await readAll({ ...kept, limit, format: "pretty" })).toBe(text);
  });

  test("a page begins with a whole character, and one beyond the end is empty", async () => {
    const results = createKeptResults(client.db, scope, limits);
    const kept = await results.keep({ ...call, text: "é😀x" }, 60);
    const raw = { ...kept, principal, limit: 10, format: "raw" } as const;
    expect(await results.readPage({ ...raw, offset: 1 })).toMatchObject({ offset: 2, text: "😀x", totalBytes: 7 });
    expect(await results.readPage({ ...raw, offset: 70 })).toMatchObject({ text: "", nextOffset: undefined });
  });

  test("keeps so many for a principal, and drops the oldest for a further one", async () => {
    const results = createKeptResults(client.db, scope, { ...limits, maxKeptBytes: 100 });
    const read = { principal, offset: 0, limit: 10, format: "raw" } as const;
    const first = await results.keep({ ...call, text: "first" }, 60);
    const others = await results.keep({ ...call, principal: undefined, text: "of the owner" }, 60);
    const second = await results.keep({ ...call, text: "second" }, 60);
    await results.keep({ ...call, text: "x".repeat(92) }, 60);
    await expect(results.readPage({ ...first, ...read })).rejects.toMatchObject({ code: "result_expired" });
    expect(await results.readPage({ ...second, ...read })).toMatchObject({ text: "second" });
    for (const text of ["a", "b"]) await results.keep({ ...call, text }, 60);
    await expect(results.readPage({ ...second, ...read })).rejects.toThrow("expired");
    await expect(results.keep({ ...call, text: "x".repeat(101) }, 60)).rejects.toThrow("results.maxKeptBytes");
    expect(await results.readPage({ ...others, ...read, principal: undefined })).toMatchObject({ text: "of the own" });
  });

  test("leaves deeply nested JSON as it is, which indentation would multiply", async () => {
    const results = createKeptResults(client.db, scope, limits);
    const text = "[".repeat(400) + "]".repeat(400);
    const kept = await results.keep({ ...call, contentType: "application/json", text }, 60);
    expect(await readAll({ ...kept, limit: 1_000, format: "pretty" })).toBe(text);
  });

  test("pretty indents JSON", async () => {
    const value = { a: [1, "é"] };
    const results = createKeptResults(client.db, scope, limits);
    const text = JSON.stringify(value);
    const kept = await results.keep({ ...call, contentType: "application/json", text }, 60);
    expect(await readAll({ ...kept, limit: 8, format: "raw" })).toBe(text);
    expect(await readAll({ ...kept, limit: 8, format: "pretty" })).toBe(JSON.stringify(value, null, 2));
  });

  test("what expired says when, what is unknown, another project's or another's is not found", async () => {
    const results = createKeptResults(client.db, scope, limits);
    const first = { principal, offset: 0, limit: 10, format: "raw" } as const;
    const gone = await results.keep({ ...call, text: "x" }, -5);
    await expect(results.readPage({ ...gone, ...first })).rejects.toMatchObject({
      code: "result_expired",
      message: `The result of s:t expired at ${gone.expiresAt.toISOString()}`,
    });
    const kept = await results.keep({ ...call, text: "x" }, 60);
    const elsewhere = createKeptResults(client.db, { ...scope, project: "other" }, limits);
    for (const missing of [
      () => elsewhere.readPage({ ...kept, ...first }),
      () => results.readPage({ ...kept, ...first, task: "b" }),
      () => results.readPage({ ...kept, ...first, principal: undefined }),
    ]) {
      await expect(missing()).rejects.toMatchObject({ code: "result_not_found" });
    }
  });
});

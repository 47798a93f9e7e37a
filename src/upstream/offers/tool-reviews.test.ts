import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import { DEFAULT_SCOPE } from "../../registry/scope.ts";
import type { DatabaseClient } from "../../db/client.ts";
import { writeOffer } from "./catalogue-store.ts";
import { contentHash } from "../../base/content-hash.ts";
import { readFlags, type Verdict } from "./review-store.ts";
import { decideReviews, listReviews } from "./tool-reviews.ts";

const tool = (description: string) => ({ name: "read", description, inputSchema: { type: "object" as const } });

describe.each(engines)("reviews on %s", (engine) => {
  let client: DatabaseClient;
  beforeEach(async () => {
    client = await openTestDatabase(engine);
  });
  afterEach(() => client[Symbol.asyncDispose]());

  /** The server describes its tool so, from now on. */
  const offer = (description: string | undefined, acceptsChanges = false) =>
    writeOffer(client.db, DEFAULT_SCOPE, {
      server: "files",
      configHash: "c",
      acceptsChanges,
      offer: {
        serverInfo: undefined,
        instructions: undefined,
        capabilities: {},
        tools: description === undefined ? [] : [tool(description)],
        resources: [],
        resourceTemplates: [],
        prompts: [],
      },
    });
  const states = async () => (await readFlags(client.db, DEFAULT_SCOPE)).map(({ state }) => state);
  const decide = (verdict: Verdict, hash?: string) =>
    decideReviews(client.db, DEFAULT_SCOPE, {
      subject: "files:read",
      verdict,
      ...(hash === undefined ? {} : { hash }),
    });

  test("a change is open until it is accepted; a way back to what was accepted needs nobody", async () => {
    await offer("A");
    expect(await states()).toEqual([]);
    await offer("B");
    expect(await states()).toEqual(["open"]);
    await offer("A");
    expect(await states()).toEqual([]);
    await offer("B");
    await decide("accepted");
    expect(await states()).toEqual([]);
    await offer("C");
    expect(await states()).toEqual(["open"]);
    for (const accepted of ["B", "A", "B"]) {
      await offer(accepted);
      expect(await states()).toEqual([]);
    }
  });

  test("what was refused is refused when it comes again, until somebody changes their mind", async () => {
    await offer("A");
    await offer("B");
    await decide("refused");
    expect(await states()).toEqual(["refused"]);
    await offer("A");
    await offer("B");
    expect(await states()).toEqual(["refused"]);
    await decide("accepted");
    expect(await states()).toEqual([]);
  });

  test("the difference shown is the one to what was accepted, not to the step before", async () => {
    await offer("A");
    await offer("B");
    await offer("C");
    expect(await listReviews(client.db, DEFAULT_SCOPE)).toMatchObject([
      { tool: "files:read", state: "open", hash: contentHash(tool("C")), differences: [{ before: "A", after: "C" }] },
    ]);
    await decide("accepted");
    await offer("D");
    expect(await listReviews(client.db, DEFAULT_SCOPE)).toMatchObject([{ differences: [{ before: "C", after: "D" }] }]);
    expect(await listReviews(client.db, DEFAULT_SCOPE, "file")).toEqual([]);
    expect(await listReviews(client.db, DEFAULT_SCOPE, "files")).toHaveLength(1);
  });

  test("nothing but what was looked at can be accepted, and every decision is on record", async () => {
    await offer("A");
    await offer("B");
    const seen = contentHash(tool("B"));
    await offer("C");
    await expect(decide("accepted", seen.slice(0, 8))).rejects.toMatchObject({ code: "review_not_found" });
    await expect(
      decideReviews(client.db, DEFAULT_SCOPE, { subject: "files:other", verdict: "accepted" }),
    ).rejects.toMatchObject({ code: "review_not_found" });
    expect(await states()).toEqual(["open"]);
    await decide("accepted", contentHash(tool("C")).slice(0, 8));
    expect(await states()).toEqual([]);
    const log = await client.db.selectFrom("audit_log").select(["action", "subject", "outcome"]).execute();
    expect(log).toEqual([{ action: "tool.review", subject: "files:read", outcome: "accepted" }]);
  });

  test("where changes are allowed they count as accepted, also later; a tool that is gone waits for nobody", async () => {
    await offer("A");
    await offer("B", true);
    await offer("C");
    await offer("B");
    expect(await states()).toEqual([]);
    await offer("C");
    expect(await states()).toEqual(["open"]);
    await offer(undefined);
    expect(await states()).toEqual([]);
    await offer("C");
    expect(await states()).toEqual(["open"]);
  });
});

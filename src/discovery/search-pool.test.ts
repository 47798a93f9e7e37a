import { describe, expect, test } from "vitest";
import { countWords } from "./bm25f.ts";
import type { SearchDocument, SearchTier } from "./search.ts";
import { type RankRequest, SearchPool } from "./search-pool.ts";
import type { TrackRecord } from "./track-record.ts";

function document(id: string, description: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const [server = "", name = ""] = id.split(":");
  return { id, kind: "tool", server, name, description, parameters: [], tags: [], ...more };
}

const documents = [
  document("fs:read_file", "Read the contents of a file"),
  document("fs:write_file", "Write text to a file"),
  document("mail:send_message", "Send a message to people", { tags: ["communication"] }),
  document("net:forecast", "Weather of the next days"),
];

function createPool(vectors: Readonly<Record<string, readonly number[]>> = {}): SearchPool {
  const pool = new SearchPool();
  for (const each of documents) {
    pool.add({ document: each, words: countWords(each) });
    const vector = vectors[each.id];
    if (vector !== undefined) pool.setVector("full", each.id, Float32Array.from(vector));
  }
  return pool;
}

function request(text: string, more: Partial<RankRequest> = {}): RankRequest {
  const tier: SearchTier = more.vectors === undefined ? "lexical" : "full";
  const defaults = { clauses: [], contextTags: [], limit: 10, vectors: [], accept: () => true };
  return { text, tier, recordOf: () => undefined, ...defaults, ...more };
}

function ids(pool: SearchPool, wanted: RankRequest): string[] {
  return pool.rank(wanted).map((each) => each.document.id);
}

describe("words alone", () => {
  const pool = createPool();
  test("rank documents that contain them, rare words first, and leave out the rest", () => {
    expect(ids(pool, request("please read the files"))).toEqual(["fs:read_file", "fs:write_file"]);
    expect(ids(pool, request("the of a"))).toEqual([]);
  });
  test("are found mistyped, and as tags", () => {
    expect(pool.correct("Wether forcast, tort", (word) => word === "tort")).toBe("weather forecast, tort");
    expect(pool.correct("tort", () => false)).toBe("tort");
    expect(ids(pool, request("communication"))).toEqual(["mail:send_message"]);
  });
  test("are explained by the fields they occur in", () => {
    expect(pool.rank(request("send a message"))[0]?.why).toMatchObject({
      words: { points: expect.any(Number), text: "name: send, messag; description: send, messag" },
    });
  });
});

test("a document that the query names comes first, even if the words fit others", () => {
  const [first] = createPool().rank(request("use write_file, not something to read the contents of a file"));
  expect(first).toMatchObject({ document: { id: "fs:write_file" }, why: { name: { text: "the query names it" } } });
  expect(first?.score).toBeGreaterThan(0.9);
});

test("meaning finds a document without a common word", () => {
  const pool = createPool({
    "fs:read_file": [1, 0, 0],
    "fs:write_file": [0.8, 0.6, 0],
    "mail:send_message": [0, 1, 0],
    "net:forecast": [0, 0, 1],
  });
  expect(pool.isComplete("full")).toBe(true);
  const [first] = pool.rank(request("will it rain", { vectors: [Float32Array.of(0, 0, 1)] }));
  expect(first).toMatchObject({ document: { id: "net:forecast" }, why: { meaning: { text: /similarity 1\.00/ } } });
});

test("each clause of a mission finds its own", () => {
  const vectors = { "fs:read_file": [1, 0], "mail:send_message": [0, 1], "fs:write_file": [0.7, 0.7] };
  const pool = createPool({ ...vectors, "net:forecast": [-1, 0] });
  const clauses = ["look at the report", "tell everybody about it"];
  const asked = request(clauses.join(", then "), {
    clauses,
    vectors: [Float32Array.of(0.9, 0.43), Float32Array.of(1, 0), Float32Array.of(0, 1)],
  });
  expect(ids(pool, asked).at(-1)).toBe("net:forecast");
});

test("scores never rise down the list, and equals come in the order of their ids", () => {
  const scores = createPool()
    .rank(request("read or write a file, send a message about the weather"))
    .map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  const same = new SearchPool();
  for (const id of ["c:x", "a:x", "b:x"]) {
    const each = document(id, "same words", { server: "s" });
    same.add({ document: each, words: countWords(each) });
  }
  expect(ids(same, request("words"))).toEqual(["a:x", "b:x", "c:x"]);
});

describe("track record", () => {
  const poor: TrackRecord = { uses: 12, successes: 4, tags: new Map([["quoted", { uses: 5, successes: 0 }]]) };
  const good: TrackRecord = { uses: 12, successes: 12, tags: new Map([["quoted", { uses: 5, successes: 5 }]]) };
  const twins = new SearchPool();
  for (const id of ["a:parse_csv", "b:parse_csv"]) {
    const each = document(id, "Parse CSV", { server: "s" });
    twins.add({ document: each, words: countWords(each) });
  }
  test("settles between equals, in all and in a context, and warns", () => {
    const records = new Map([
      ["a:parse_csv", poor],
      ["b:parse_csv", good],
    ]);
    const ranked = twins.rank(request("parse csv", { recordOf: (id) => records.get(id), contextTags: ["quoted"] }));
    expect(ranked.map((each) => each.document.id)).toEqual(["b:parse_csv", "a:parse_csv"]);
    expect(ranked[1]?.warnings).toEqual([`0 of 5 uses in the context "quoted" succeeded`]);
    expect(ranked[0]?.why).toMatchObject({
      record: { text: "12 of 12 uses succeeded, smoothed rate 0.93" },
      context: { text: "quoted: 5 of 5 succeeded" },
    });
    expect(ranked[1]?.why.context?.points).toBeLessThan(0);
  });
});

test("a removed document is gone, and its slot is reused without a trace", () => {
  const pool = createPool({ "fs:read_file": [1, 0] });
  pool.remove("fs:read_file");
  const fresh = document("db:query", "Run SQL");
  pool.add({ document: fresh, words: countWords(fresh) });
  expect(ids(pool, request("read contents"))).toEqual([]);
  expect(ids(pool, request("sql"))).toEqual(["db:query"]);
  expect(pool.countVectors("full")).toBe(0);
});

test("a finder comes up behind the tool that needs its id, and only on the same server", () => {
  const tools = [
    document("films:GET /movie/{movie_id}/credits", "Who acted in it and who directed it"),
    document("films:GET /search/movie", "Titles by text"),
    document("films:GET /movie/{movie_id}/similar", "Search for what is like it"),
    document("films:GET /tv/popular", "What is watched"),
    document("shop:search_movie", "What is sold"),
    document("shop:cancel_order", "Takes back what was bought", { parameters: [{ name: "id" }] }),
    document("shop:list_orders", "Everything so far"),
  ];
  const pool = new SearchPool();
  for (const each of tools) pool.add({ document: each, words: countWords(each) });
  const [first, second] = pool.rank(request("who directed it and who acted"));
  expect(first?.document.id).toBe("films:GET /movie/{movie_id}/credits");
  expect(second).toMatchObject({
    document: { id: "films:GET /search/movie" },
    why: { graph: { points: expect.any(Number), text: "finds the movie that GET /movie/{movie_id}/credits needs" } },
  });
  expect(ids(pool, request("take back what was bought"))).toEqual(["shop:cancel_order", "shop:list_orders"]);
  // a filtered leader still lifts its prerequisites
  const onlyLists = request("take back what was bought", { accept: ({ id }) => id.includes("list") });
  expect(ids(pool, onlyLists)).toEqual(["shop:list_orders"]);
  pool.remove("shop:list_orders");
  expect(ids(pool, request("take back what was bought"))).toEqual(["shop:cancel_order"]);
});

test("a companion of the best comes up behind it and says so; the first stays first", () => {
  const pool = createPool();
  const shares = new Map([["fs:read_file", new Map([["mail:send_message", 0.75]])]]);
  const usedWith = (id: string) => shares.get(id) ?? new Map<string, number>();
  const text = "read a file or send text";
  expect(ids(pool, request(text))).toEqual(["fs:read_file", "fs:write_file", "mail:send_message"]);
  const ranked = pool.rank(request(text, { usedWith }));
  expect(ranked.map(({ document: { id } }) => id)).toEqual(["fs:read_file", "mail:send_message", "fs:write_file"]);
  expect(ranked[1]?.why.graph?.text).toBe("used together with fs:read_file in 75 % of its uses");
  expect(ranked.filter(({ why }) => why.graph !== undefined)).toHaveLength(1);
});

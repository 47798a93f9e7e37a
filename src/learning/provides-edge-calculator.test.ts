import { describe, expect, test } from "vitest";
import { type Connectable, createProvidesEdges } from "./provides-edge-calculator.ts";

const text = { type: "string" };

function tool(id: string, input: Record<string, unknown>, output: Record<string, unknown>, required?: string[]) {
  return {
    id,
    inputSchema: { type: "object", properties: input, required: required ?? Object.keys(input) },
    outputSchema: { type: "object", properties: output },
  } satisfies Connectable;
}

function edges(...tools: Connectable[]): string[] {
  return createProvidesEdges(tools).map(({ from, to, coverage, fieldMapping }) => {
    const fields = fieldMapping.map(({ fromField, toField, typeCompatible }) =>
      typeCompatible ? `${fromField} as ${toField}` : `not ${fromField} as ${toField}`,
    );
    return `${from} ${to} ${coverage}: ${fields.join(", ")}`;
  });
}

const read = tool("fs:read", { path: text }, { content: text });
const parse = tool("json:parse", { json: text }, { data: { type: "object" } });
const post = tool("http:post", { url: text, body: { type: "object" } }, { status: { type: "integer" } });

describe("edges along which data can flow", () => {
  test("state the coverage of the input", () => {
    expect(edges(read, parse, post)).toEqual([
      "fs:read json:parse strict: content as json",
      "json:parse http:post partial: data as body",
    ]);
    const search = tool("web:search", { q: text, limit: text }, {}, ["q"]);
    const settings = tool("app:settings", {}, { limit: text });
    expect(edges(settings, search)).toEqual(["app:settings web:search optional: limit as limit"]);
  });

  test("hand over a text result as a whole", () => {
    const fetch = { id: "web:fetch", inputSchema: {}, outputSchema: text };
    expect(edges(fetch, parse)).toEqual(["web:fetch json:parse strict: $ as json"]);
  });

  test("carry both schemas, to fill in the rest by", () => {
    expect(createProvidesEdges([read, parse])[0]).toMatchObject({
      type: "provides",
      providerOutputSchema: read.outputSchema,
      consumerInputSchema: parse.inputSchema,
    });
  });

  test("connect neither incompatible types nor vague names", () => {
    expect(edges(tool("a:count", {}, { path: { type: "integer" } }), read)).toEqual([]);
    expect(edges(tool("a:make_user", {}, { id: text }), tool("b:close_issue", { id: text }, {}))).toEqual([]);
  });

  test("match an id by its owner, also inside lists", () => {
    const create = tool("hub:create_issue", { title: text }, { id: text });
    const list = tool("hub:list_all", {}, { issues: { type: "array", items: { properties: { number: text } } } });
    const close = tool("hub:close_issue", { issue_id: text }, {});
    const show = tool("hub:show", { issueNumber: text }, {});
    expect(edges(create, list, close, show)).toEqual([
      "hub:create_issue hub:close_issue strict: id as issue_id",
      "hub:list_all hub:show strict: issues[0].number as issueNumber",
    ]);
  });

  test("are limited to the best per consumer, without comparing all pairs", () => {
    const makers = Array.from({ length: 2_000 }, (_, index) => tool(`s${index}:make`, {}, { [`field${index}`]: text }));
    const takers = Array.from({ length: 2_000 }, (_, index) => tool(`t${index}:take`, { [`field${index}`]: text }, {}));
    let reads = 0;
    const counted = makers.map(({ outputSchema, ...maker }) => ({
      ...maker,
      get outputSchema() {
        reads += 1;
        return outputSchema;
      },
    }));
    expect(createProvidesEdges([...counted, ...takers])).toHaveLength(2_000);
    // Comparing all pairs would read each schema once per taker.
    expect(reads / counted.length).toBeLessThan(10);
    const many = Array.from({ length: 50 }, (_, index) => tool(`s${index}:read`, {}, { content: text }));
    expect(createProvidesEdges([...many, parse])).toHaveLength(16);
  });
});

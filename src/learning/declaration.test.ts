import { describe, expect, test } from "vitest";
import { declareCapability, declareTool } from "./declaration.ts";

const output = { type: "object", properties: { content: { type: "string" } }, required: ["content"] };

describe("a declaration", () => {
  test("of a tool says how programs call it", () => {
    const inputSchema = {
      type: "object",
      properties: { path: { type: "string" }, head: { type: "integer" }, "with-dash": { type: ["string", "null"] } },
      required: ["path"],
    };
    expect(declareTool("fs:read", { inputSchema, outputSchema: output })).toBe(
      'mcp.fs.read(args: { path: string; head?: number; "with-dash"?: string | null }): Promise<{ content: string }>',
    );
    expect(declareTool("my-server:get.it", {})).toBe('mcp["my-server"]["get.it"](): Promise<unknown>');
    expect(declareTool("a:b:c", { inputSchema: { additionalProperties: true } })).toBe(
      'mcp.a["b:c"](args?: unknown): Promise<unknown>',
    );
  });

  test("of a capability says what it takes and what it gave back", () => {
    const inputSchema = { type: "object", properties: { length: { type: "number", default: 3 } } };
    expect(declareCapability("util:count_up", { inputSchema, outputSchema: { type: "integer" } })).toBe(
      "capabilities.util.count_up(args?: { length?: number }): Promise<number>",
    );
    expect(declareCapability("my-reader", {})).toBe('capabilities["my-reader"](): Promise<unknown>');
  });

  test.each([
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: output }, "{ content: string }[]"],
    [{ type: "array" }, "unknown[]"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ enum: Array.from({ length: 20 }, (_, index) => String(index)) }, "string"],
    [{ const: "x" }, '"x"'],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ oneOf: [{ type: "string" }, { $ref: "#/x" }] }, "unknown"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "never heard of" }, "unknown"],
    [true, "unknown"],
  ])("has for %j the type %s", (schema, type) => {
    const outputSchema = { type: "object", properties: { it: schema }, required: ["it"] };
    expect(declareTool("a:b", { outputSchema })).toBe(`mcp.a.b(): Promise<{ it: ${type} }>`);
  });

  test("is bounded for deep and wide schemas", () => {
    const deep: Record<string, unknown> = { type: "object" };
    deep["properties"] = { self: deep };
    expect(declareTool("a:b", { outputSchema: deep })).toContain("Record<string, unknown>");
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, {}]));
    expect(declareTool("a:b", { outputSchema: { properties } })).toContain("[more: string]: unknown");
  });
});

import { expect, test } from "vitest";
import type { Offer } from "../upstream/offers/offer.ts";
import { indexTools } from "./catalogue.ts";
import { reportNames } from "./name-report.ts";
import { buildSurface } from "./surface.ts";

function offer(...names: string[]): Offer {
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" as const } }));
  return {
    serverInfo: undefined,
    instructions: undefined,
    capabilities: {},
    tools,
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
}

test("reportNames says which tools are hidden or renamed, and why; plain ones are not worth a word", () => {
  const long = "x".repeat(60);
  const servers = [
    {
      name: "a",
      entry: { command: "x", tools: ["get-sum", "a.b", "a-b", long] },
      offer: offer("get-sum", "a.b", "a-b", long, "other"),
      flags: new Map(),
    },
    { name: "b", entry: { command: "x", pml: { prefix: "" as const } }, offer: offer("own.name"), flags: new Map() },
  ];
  const surface = buildSurface({
    tools: indexTools(servers),
    servers,
    own: [],
    settings: { toolNames: "portable", exposure: "full", maxListedTools: 40, pinned: [] },
  });
  const report = reportNames(surface);
  expect(report.offered).toBe(5);
  expect(report.hidden).toMatchObject([{ tool: "a:other", reason: "it is not among the server's allowed tools" }]);
  expect(report.renamed.map(({ tool, reason }) => [tool, reason])).toEqual([
    ["a:a.b", "another tool has the same name but for punctuation"],
    ["a:a-b", "another tool has the same name but for punctuation"],
    [`a:${long}`, "it is longer than 50 characters"],
  ]);
});

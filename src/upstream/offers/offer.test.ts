import { expect, test } from "vitest";
import { cleanOffer, type Offer } from "./offer.ts";

const tool = (name: string, description: string): Offer["tools"][number] => ({
  name,
  description,
  inputSchema: { type: "object" },
});

const nothing = {
  serverInfo: undefined,
  instructions: undefined,
  capabilities: {},
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
};

test("cleanOffer keeps the first tool and the first prompt of a name, in the server's order", () => {
  const offer = cleanOffer({
    ...nothing,
    tools: [tool("run", "first"), tool("stop", "only"), tool("run", "second")],
    prompts: [{ name: "p", title: "first" }, { name: "p" }],
  });
  expect(offer.tools.map(({ name, description }) => [name, description])).toEqual([
    ["run", "first"],
    ["stop", "only"],
  ]);
  expect(offer.prompts).toEqual([{ name: "p", title: "first" }]);
});

test("cleanOffer leaves malformed entries out, says which and why, and takes null for an absent text", () => {
  const good = tool("good", "Does good.");
  const listed = {
    ...nothing,
    tools: [
      { ...good, title: null, outputSchema: null },
      { ...good, name: "zero\u0000" },
      { ...good, name: "half\uD800" },
      { ...good, name: "described", description: { text: "no" } },
      { ...good, name: "titled", title: 7 },
      { ...good, name: 5 },
      { name: "bare" },
      { ...good, name: "answering", outputSchema: "no" },
      "text",
    ],
    prompts: [{ name: "p\u0000" }, { name: "p", description: [] }, { name: "fine" }],
    resources: [
      { uri: "x:\uDC00", name: "r" },
      { uri: "x:y", name: 1 },
      { uri: "x:z", name: "z\u0000" },
    ],
    resourceTemplates: [{ uriTemplate: "x:{a}\u0000", name: "t" }],
  };
  const offer = cleanOffer(JSON.parse(JSON.stringify(listed)) as Offer);
  expect(offer).toMatchObject({ prompts: [{ name: "fine" }], resources: [{ uri: "x:z", name: "z" }] });
  expect([offer.tools, offer.resourceTemplates]).toEqual([[good], []]);
  expect(offer.leftOut).toEqual([
    'tool "zero⟦U+0000⟧": its name has a NUL or a lone surrogate',
    'tool "half⟦U+D800⟧": its name has a NUL or a lone surrogate',
    'tool "described": its description is no text',
    'tool "titled": its title is no text',
    "tool 6: its name is no text",
    'tool "bare": its inputSchema is no object',
    'tool "answering": its outputSchema is no object',
    "tool 9: it is no object",
    'prompt "p⟦U+0000⟧": its name has a NUL or a lone surrogate',
    'prompt "p": its description is no text',
    'resource "x:⟦U+DC00⟧": its uri has a NUL or a lone surrogate',
    'resource "x:y": its name is no text',
    'resource template "x:{a}⟦U+0000⟧": its uriTemplate has a NUL or a lone surrogate',
  ]);
});

test("cleanOffer names a few malformed entries and counts the others, again for a stored offer", () => {
  const offer = cleanOffer({ ...nothing, tools: Array.from({ length: 100 }, () => tool("\u0000", "")) });
  expect(offer.leftOut).toHaveLength(20);
  expect(offer.leftOut?.at(-1)).toBe("81 more");
  expect(cleanOffer(offer)).toEqual(offer);
});

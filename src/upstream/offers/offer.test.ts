import { expect, test } from "vitest";
import { cleanOffer, type Offer } from "./offer.ts";

const tool = (name: string, description: string): Offer["tools"][number] => ({
  name,
  description,
  inputSchema: { type: "object" },
});

test("cleanOffer keeps the first tool and the first prompt of a name, in the server's order", () => {
  const nothing = { serverInfo: undefined, instructions: undefined, capabilities: {} };
  const offer = cleanOffer({
    ...nothing,
    tools: [tool("run", "first"), tool("stop", "only"), tool("run", "second")],
    prompts: [{ name: "p", title: "first" }, { name: "p" }],
    resources: [],
    resourceTemplates: [],
  });
  expect(offer.tools.map(({ name, description }) => [name, description])).toEqual([
    ["run", "first"],
    ["stop", "only"],
  ]);
  expect(offer.prompts).toEqual([{ name: "p", title: "first" }]);
});

import { z } from "zod";
import { ROUTINGS } from "../../../src/capabilities/record.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tool.ts";
import { changed, type DnsParts, json, reference, tags, writes } from "./dns-parts.ts";

export function createTag({ registry, scope, facts }: DnsParts): OwnTool {
  return defineTool({
    name: "dns:tag",
    title: "Tag a capability",
    description: "Replaces the tags of a capability, and says where it runs.",
    input: z.strictObject({
      name: reference,
      tags,
      routing: z
        .enum([...ROUTINGS, "inherit"])
        .optional()
        .describe("Where it runs, whatever its tools say; inherit goes by its tools again."),
    }),
    annotations: { ...writes, idempotentHint: true },
    async run({ name, tags: wanted, routing }, context) {
      const asker = askerOf(scope, context);
      const done = await registry.tag(asker, { name, tags: wanted });
      if (routing === undefined) return json({ ...changed(done), routing: facts.routingOf(done.record) });
      await facts.setRouting(done.record, routing === "inherit" ? undefined : routing);
      const record = await registry.whois(asker, done.record.id);
      return json({ ...changed({ ...done, record }), routing: facts.routingOf(record) });
    },
  });
}

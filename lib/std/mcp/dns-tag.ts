import { z } from "zod";
import { CACHE_POLICIES } from "../../../src/registry/capability.ts";
import { ROUTINGS } from "../../../src/registry/record.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import { changed, type DnsParts, json, reference, tags, writes } from "./dns-parts.ts";

export function createTag({ registry, scope, facts }: DnsParts): OwnTool {
  return defineTool({
    name: "dns:tag",
    title: "Tag a capability",
    description: "Replaces the tags of a capability, and says where it runs and whether its answers are used again.",
    input: z.strictObject({
      name: reference,
      tags: tags.optional(),
      cache_policy: z
        .enum(CACHE_POLICIES)
        .optional()
        .describe(
          "Whether an answer is given again for equal arguments: never, while the gateway runs (memoize), or after that too (persistent). Only of what does nothing but read.",
        ),
      ttl: z.number().int().positive().nullable().optional().describe("Seconds for which; null for no end."),
      routing: z
        .enum([...ROUTINGS, "inherit"])
        .optional()
        .describe("Where it runs, whatever its tools say; inherit goes by its tools again."),
    }),
    annotations: { ...writes, idempotentHint: true },
    async run({ name, routing, tags: wanted, cache_policy: cachePolicy, ttl: ttlSeconds }, context) {
      const asker = askerOf(scope, context);
      const done = await registry.tag(asker, withoutUndefined({ name, tags: wanted, cachePolicy, ttlSeconds }));
      if (routing === undefined) return json({ ...changed(done), routing: facts.routingOf(done.record) });
      await facts.setRouting(done.record, routing === "inherit" ? undefined : routing);
      const record = await registry.whois(asker, done.record.id);
      return json({ ...changed({ ...done, record }), routing: facts.routingOf(record) });
    },
  });
}

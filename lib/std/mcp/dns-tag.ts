import { tools } from "../../../src/contract/tools.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import { changed, type DnsParts, json, writes } from "./dns-parts.ts";

export function createTag({ registry, scope, facts }: DnsParts): OwnTool {
  return defineTool({
    ...tools["dns:tag"],
    title: "Tag a capability",
    description: "Replaces the tags of a capability, and says where it runs and whether its answers are used again.",
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

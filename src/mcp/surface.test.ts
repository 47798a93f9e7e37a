import { expect, test } from "vitest";
import type { McpServerEntry } from "../config/schema.ts";
import type { Offer } from "../upstream/offer.ts";
import type { KnownServer } from "../upstream/upstreams.ts";
import { buildSurface } from "./surface.ts";

const portable = { toolNames: "portable" } as const;
const object = { type: "object" } as const;

function server(name: string, offer: Partial<Offer>, entry: McpServerEntry = {}): KnownServer {
  const nothing: Offer = {
    serverInfo: undefined,
    instructions: undefined,
    capabilities: {},
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  return { name, entry, offer: { ...nothing, ...offer }, flags: new Map() };
}

function tool(name: string, more: Partial<Offer["tools"][number]> = {}): Offer["tools"][number] {
  return { name, inputSchema: object, ...more };
}

test("buildSurface lists every server's tools by server name, whatever the order they came in", () => {
  const a = server("a", { tools: [tool("run"), tool("stop")] });
  const b = server("b", { tools: [tool("run")] });
  const surface = buildSurface([b, a], portable);
  expect(surface).toMatchObject({ tools: buildSurface([a, b], portable).tools });
  expect(surface.tools.map(({ name }) => name)).toEqual(["a__run", "a__stop", "b__run"]);
  expect(buildSurface([{ name: "c", entry: {}, offer: undefined, flags: new Map() }], portable).tools).toEqual([]);
});

test("buildSurface keeps what a server says of a tool and adds its canonical name", () => {
  const annotations = { destructiveHint: true };
  const offered = tool("a.b", { title: "A", description: "…", annotations, _meta: { "x/y": 1 }, outputSchema: object });
  const surface = buildSurface([server("s", { tools: [offered, tool("plain")] })], portable);
  expect(surface.tools).toEqual([
    { ...offered, name: "s__a_b", _meta: { "x/y": 1, "dev.pml/canonicalName": "s:a.b" } },
    { ...tool("s__plain"), title: "s:plain", _meta: { "dev.pml/canonicalName": "s:plain" } },
  ]);
  const canonical = buildSurface([server("s", { tools: [offered] })], { toolNames: "canonical" });
  expect(canonical.tools.map(({ name }) => name)).toEqual(["s:a.b"]);
  expect(surface.splitCanonical("s:a:b.c")).toEqual({ server: "s", name: "a:b.c" });
});

test("buildSurface offers a name that a server lists twice once, as it was listed first", () => {
  const tools = [tool("run", { description: "first" }), tool("run", { description: "second" })];
  const surface = buildSurface([server("s", { tools, prompts: [{ name: "p" }, { name: "p" }] })], portable);
  expect(surface.tools.map(({ name, description }) => [name, description])).toEqual([["s__run", "first"]]);
  expect(surface.prompts).toEqual([{ name: "s__p" }]);
});

test("buildSurface hides what is not allowed and what PML cannot run, and says why", () => {
  const tools = [tool("read"), tool("write"), tool("research", { execution: { taskSupport: "required" } })];
  const surface = buildSurface([server("s", { tools }, { tools: ["read", "research"] })], portable);
  expect(surface.tools.map(({ name }) => name)).toEqual(["s__read"]);
  expect(surface.hidden).toMatchObject([
    { tool: "s:write", reason: "it is not among the server's allowed tools" },
    { tool: "s:research", reason: "it can only be run as a task, which PML does not offer yet" },
  ]);
});

test("buildSurface wraps resource URIs so that they lead back to their server", () => {
  const resources = [{ uri: "file:///a", name: "a" }];
  const resourceTemplates = [{ uriTemplate: "demo://{id}/x.y", name: "t" }];
  const surface = buildSurface(
    [
      server("one", { resources, resourceTemplates, capabilities: { resources: {} } }),
      server("bare", { resources: [{ uri: "plain:b", name: "b" }] }, { pml: { prefix: "" } }),
    ],
    portable,
  );
  expect(surface.resources.map(({ uri }) => uri)).toEqual(["plain:b", "pml+one:file:///a"]);
  expect(surface.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["pml+one:demo://{id}/x.y"]);
  expect(surface.findResource("pml+one:file:///a")).toEqual({ server: "one", name: "file:///a" });
  expect(surface.findResource("file:///a")).toEqual({ server: "one", name: "file:///a" });
  expect(surface.findResource("plain:b")).toEqual({ server: "bare", name: "plain:b" });
  expect(surface.findResource("demo://7/x.y")).toEqual({ server: "one", name: "demo://7/x.y" });
  expect(surface.findResource("other:z")).toEqual({ server: "one", name: "other:z" });
});

test("buildSurface finds no server for an unlisted resource when several have resources", () => {
  const withResources = { capabilities: { resources: {} } };
  const surface = buildSurface([server("one", withResources), server("two", withResources)], portable);
  expect(surface.findResource("other:z")).toBeUndefined();
});

test("buildSurface keeps a held tool from the list, with its name, and leaves the names of others alone", () => {
  const tools = [tool("a.b"), tool("a-b")];
  const open = buildSurface([server("s", { tools })], portable);
  const held = { toolId: "s:a.b", state: "open", held: true } as const;
  const surface = buildSurface([{ ...server("s", { tools }), flags: new Map([["a.b", held]]) }], portable);
  expect(surface.tools).toEqual(open.tools.slice(1));
  expect(surface.hidden).toMatchObject([{ tool: "s:a.b", held: true }]);
  expect(surface.toolNames.resolve(open.tools[0]?.name ?? "")).toEqual({ kind: "found", canonical: "s:a.b" });
  const flagged = { ...server("s", { tools }), flags: new Map([["a.b", { ...held, held: false }]]) };
  expect(buildSurface([flagged], portable).tools).toEqual(open.tools);
});

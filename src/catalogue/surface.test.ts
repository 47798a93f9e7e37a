import { expect, test } from "vitest";
import type { McpServerEntry } from "../config/schema.ts";
import type { Offer } from "../upstream/offers/offer.ts";
import type { KnownServer } from "../upstream/upstreams.ts";
import { indexTools } from "./catalogue.ts";
import { buildSurface as build, type Surface, type SurfaceSettings } from "./surface.ts";

const portable = { toolNames: "portable", exposure: "full", maxListedTools: 40, pinned: [] } as const;
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

function buildSurface(
  servers: readonly KnownServer[],
  settings: Partial<SurfaceSettings> = {},
  own: Offer["tools"] = [],
): Surface {
  return build({ tools: indexTools(servers), servers, own, settings: { ...portable, ...settings } });
}

function names(surface: Surface): string[] {
  return surface.listTools().map(({ name }) => name);
}

function tool(name: string, more: Partial<Offer["tools"][number]> = {}): Offer["tools"][number] {
  return { name, inputSchema: object, ...more };
}

test("buildSurface lists every server's tools by server name, whatever the order they came in", () => {
  const a = server("a", { tools: [tool("run"), tool("stop")] });
  const b = server("b", { tools: [tool("run")] });
  const surface = buildSurface([b, a]);
  expect(surface).toMatchObject({ tools: buildSurface([a, b]).tools });
  expect(names(surface)).toEqual(["a__run", "a__stop", "b__run"]);
  expect(buildSurface([{ name: "c", entry: {}, offer: undefined, flags: new Map() }]).tools).toEqual([]);
});

test("buildSurface keeps what a server says of a tool and adds its canonical name", () => {
  const annotations = { destructiveHint: true };
  const offered = tool("a.b", { title: "A", description: "…", annotations, _meta: { "x/y": 1 }, outputSchema: object });
  const surface = buildSurface([server("s", { tools: [offered, tool("plain")] })]);
  expect(surface.listTools()).toEqual([
    { ...offered, name: "s__a_b", _meta: { "x/y": 1, "dev.pml/canonicalName": "s:a.b" } },
    { ...tool("s__plain"), title: "s:plain", _meta: { "dev.pml/canonicalName": "s:plain" } },
  ]);
  const canonical = buildSurface([server("s", { tools: [offered] })], { toolNames: "canonical" });
  expect(names(canonical)).toEqual(["s:a.b"]);
  expect(canonical.listTools("portable").map(({ name }) => name)).toEqual(["s__a_b"]);
});

test("buildSurface hides what is not allowed and what PML cannot run, and says why", () => {
  const tools = [tool("read"), tool("write"), tool("research", { execution: { taskSupport: "required" } })];
  const surface = buildSurface([server("s", { tools }, { tools: ["read", "research"] })]);
  expect(names(surface)).toEqual(["s__read"]);
  expect(surface.withheld).toMatchObject([
    { id: "s:write", reason: "it is not among the server's allowed tools" },
    { id: "s:research", reason: "it can only be run as a task, which PML does not offer yet" },
  ]);
});

test("buildSurface wraps resource URIs so that they lead back to their server", () => {
  const resources = [{ uri: "file:///a", name: "a" }];
  const resourceTemplates = [{ uriTemplate: "demo://{id}/x.y", name: "t" }];
  const surface = buildSurface([
    server("one", { resources, resourceTemplates, capabilities: { resources: {} } }),
    server("bare", { resources: [{ uri: "plain:b", name: "b" }] }, { pml: { prefix: "" } }),
  ]);
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
  const surface = buildSurface([server("one", withResources), server("two", withResources)]);
  expect(surface.findResource("other:z")).toBeUndefined();
});

const own = [tool("pml_discover", { title: "Find tools" }), tool("dns:lookup")];
const two = [server("b", { tools: [tool("run"), tool("stop")] }), server("a", { tools: [tool("run")] })];

test.each<[Partial<SurfaceSettings>, string[]]>([
  [{ exposure: "full", maxListedTools: 1 }, ["a__run", "b__run", "b__stop"]],
  [{ exposure: "auto", maxListedTools: 5 }, ["a__run", "b__run", "b__stop"]],
  [{ exposure: "auto", maxListedTools: 4 }, []],
  [{ exposure: "auto", maxListedTools: 4, pinned: ["b:*"] }, ["b__run", "b__stop"]],
  [{ exposure: "pinned", maxListedTools: 5, pinned: ["b:stop", "a:run", "c:gone"] }, ["a__run", "b__stop"]],
  [{ exposure: "meta", maxListedTools: 5, pinned: ["a:run"] }, []],
])("buildSurface with %o lists PML's own tools first, then %o, and offers all", (settings, expected) => {
  const surface = buildSurface(two, settings, own);
  expect(names(surface)).toEqual(["pml_discover", "dns__lookup", ...expected]);
  expect(surface.tools.map(({ id }) => id)).toEqual(["a:run", "b:run", "b:stop"]);
  for (const name of ["b:stop", "b__stop", "B.Stop"]) {
    expect(surface.toolNames.resolve(name)).toEqual({ kind: "found", canonical: "b:stop" });
  }
});

test("buildSurface keeps PML's own names from servers that would use them", () => {
  const bare = server("bare", { tools: [tool("pml_discover"), tool("PML-Discover")] }, { pml: { prefix: "" } });
  const alike = server("pml-discover", { tools: [tool("x")] });
  const surface = buildSurface([bare, alike, server("dns-lookup", { tools: [tool("x")] })], {}, own);
  expect(surface.toolNames.resolve("pml_discover")).toEqual({ kind: "found", canonical: "pml_discover" });
  expect(surface.toolNames.resolve("dns__lookup")).toEqual({ kind: "found", canonical: "dns:lookup" });
  expect(names(surface)[0]).toBe("pml_discover");
  expect(new Set(names(surface).map((name) => name.toLowerCase().replaceAll("-", "_"))).size).toBe(6);
  expect(surface.toolNames.resolve("bare:pml_discover")).toEqual({ kind: "found", canonical: "bare:pml_discover" });
});

test("buildSurface leaves results of a server without prefix alone, unless it has a limit of its own", () => {
  const tools = [tool("run")];
  const limits = [{}, { prefix: "" as const }, { prefix: "" as const, maxResultBytes: 5_000 }, { maxResultBytes: 0 }];
  const surface = buildSurface(limits.map((pml, index) => server(`s${index}`, { tools }, { pml })));
  expect(surface.tools.map(({ maxResultBytes }) => maxResultBytes)).toEqual([undefined, 0, 5_000, 0]);
});

test("buildSurface keeps a held tool from the list, with its name, and leaves the names of others alone", () => {
  const tools = [tool("a.b"), tool("a-b")];
  const open = buildSurface([server("s", { tools })]);
  const held = { toolId: "s:a.b", state: "open", held: true } as const;
  const surface = buildSurface([{ ...server("s", { tools }), flags: new Map([["a.b", held]]) }]);
  expect(surface.tools).toEqual(open.tools.slice(1));
  expect(surface.withheld).toMatchObject([{ id: "s:a.b", held: true }]);
  expect(surface.toolNames.resolve(open.tools[0]?.wireName ?? "")).toEqual({ kind: "found", canonical: "s:a.b" });
  const flagged = { ...server("s", { tools }), flags: new Map([["a.b", { ...held, held: false }]]) };
  expect(buildSurface([flagged]).tools).toEqual(open.tools);
});

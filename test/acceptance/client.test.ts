import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { connectPml, type PmlClient, PmlClientError } from "../../src/sdk/pml-client.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { packageRoot } from "../../src/base/package-info.ts";
import { makeFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway-home.ts";
import { startNamesGateway } from "../support/names-scene.ts";
import { PML, testEnvironment } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const run = promisify(execFile);

/** Every method, over each transport. */
async function useClient(pml: PmlClient, name: string): Promise<void> {
  const made = await pml.execute({
    intent: "count",
    name,
    tags: ["counted", name],
    code: `const via = "${name}"; return (await mcp.counting.list({ length: args.length })).items`,
    args: { length: 2 },
  });
  expect(made).toMatchObject({ status: "success", result: [0, 1], capabilityName: name });
  expect(await pml.call(`cap:${name}`, { length: 3 })).toEqual([0, 1, 2]);
  expect(await pml.call("counting:list", { length: 1 })).toEqual({ items: [0] });
  const found = await pml.lookup(name);
  expect(found).toMatchObject({ type: "capability", display_name: name, version: 1, routing: "local", usage_count: 2 });
  expect(await pml.whois(found.fqdn)).toMatchObject({
    fqdn: found.fqdn,
    created_by: "pml-client",
    tools_used: ["counting:list"],
  });
  const { versions } = await pml.history(name);
  expect(versions).toMatchObject([{ version: 1, diff: null }]);
  const { records, total } = await pml.query({ tags: ["counted", name], visibility: "private" });
  expect([records.map((each) => each.display_name), total]).toEqual([[name], 1]);
  const { results } = await pml.discover("list numbers", { limit: 2 });
  expect(results[0]).toMatchObject({ callName: expect.any(String), score: expect.any(Number) });
  expect(await pml.execute({ intent: "fail", code: "throw new Error('on purpose')" })).toMatchObject({
    status: "error",
    error: { message: expect.stringContaining("on purpose") },
  });
  const refused = await pml.lookup(`${name}x`).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PmlClientError);
  expect(refused).toMatchObject({ code: "capability_not_found", hint: `Did you mean ${name}?` });
  await expect(pml.call("counting:fail", { key: "k" })).rejects.toMatchObject({
    message: expect.stringContaining("no k"),
  });
}

test("[FR041] [FR042] [FR043] [FR044] the client looks up, asks, calls and runs over HTTP and stdio, and the guide's example works", async () => {
  await using home = await startNamesGateway();
  const { url = "", token = "" } = readDaemonAddress(home.path) ?? {};
  {
    await using http = await connectPml({ url: `${url}/mcp`, token });
    await useClient(http, "util:over_http");
  }
  {
    const env = testEnvironment({ home: home.path });
    await using stdio = await connectPml({ command: process.execPath, args: [PML, "mcp"], env });
    await useClient(stdio, "util:over_stdio");
  }
  const guide = readFileSync(join(packageRoot, "docs", "guides", "client.md"), "utf8");
  const [, example = ""] = /```ts\n(.*?)```/s.exec(guide) ?? [];
  const script = join(home.path, "example.ts");
  writeFileSync(
    script,
    example.replace('"pml/client"', JSON.stringify(join(packageRoot, "src", "sdk", "pml-client.ts"))),
  );
  const env = { ...process.env, PML_URL: url, PML_TOKEN: token };
  const { stdout } = await run(process.execPath, [script], { env });
  expect(stdout.trim().split("\n")).toEqual([
    "success 3",
    "42",
    "1 pml-client sha256: 1 3 true",
    "capability_not_found Did you mean util:add?",
  ]);
});

test("a server whose name only begins like a capability's keeps its structured results", async () => {
  await using folder = await makeFolder();
  const file = join(folder.path, "script.json");
  const shot = { content: [{ type: "text", text: "a picture" }], structuredContent: { width: 640 } };
  writeFileSync(
    file,
    JSON.stringify({ tools: [{ name: "shot", inputSchema: { type: "object" } }], results: { shot } }),
  );
  await using home = await startGateway({ capture: servers.scripted(file) });
  await home.ready("capture");
  const { url = "", token = "" } = readDaemonAddress(home.path) ?? {};
  await using pml = await connectPml({ url: `${url}/mcp`, token });
  expect(await pml.call("capture:shot")).toEqual({ width: 640 });
});

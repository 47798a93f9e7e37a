/** An agent shows what it wrote to its project at most: the organisation and the public take a person or an admin. */
import { expect, test } from "vitest";
import { routes } from "../../src/contract/routes.ts";
import { EXIT } from "../../src/base/errors.ts";
import { execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, runPml } from "../support/pml.ts";
import { addressOf, sendRaw } from "../support/raw-http.ts";
import { startRemoteGateway } from "../support/remote-gateway.ts";

const WIDE = ["org", "public"] as const;

test.each(WIDE)(
  "an agent cannot make a program %s, in none of the ways it has, and a person can",
  async (visibility) => {
    await using home = await startGateway({});
    await using connected = await connectClient(home.path);
    const { client } = connected;
    const seen = async (): Promise<unknown> =>
      (await callJson(client, "dns:query", { visibility, namespace: "util" })).value;
    const code = "return 'mine'";
    const needsPerson = { code: "person_needed", message: expect.stringContaining("Only a person") };

    const started = await execute(client, { code, name: "util:mine", visibility });
    expect(started).toMatchObject({ status: "error", error: needsPerson });
    expect((await execute(client, { code, name: "util:mine" })).status).toBe("success");
    expect(await execute(client, { code, name: "util:mine", visibility })).toMatchObject({ error: needsPerson });
    for (const more of [{}, { on_conflict: "version" }, { on_conflict: "suffix" }]) {
      const saved = await callJson(client, "learn:save", { name: "util:mine", code: "return 2", visibility, ...more });
      expect([saved.isError, saved.text]).toEqual([true, expect.stringContaining("person_needed")]);
    }
    const inProgram = `return await mcp.learn.save({ name: "util:nested", code: "return 3", visibility: "${visibility}" })`;
    await execute(client, { code: inProgram });
    const { url, authorization } = addressOf(home.path);
    for (const { path } of [routes.shareRecord, routes.registerServer]) {
      const body = JSON.stringify({ name: "util:mine", visibility, text: "{}" });
      const headers = { authorization, "content-type": "application/json" };
      expect((await sendRaw(url, { method: "POST", path, headers, body })).status).toBe(403);
    }
    expect(await seen()).toMatchObject({ records: [] });
    expect(await runJson(["share", "util:mine", visibility], { home: home.path })).toMatchObject({ visibility });
    expect(await seen()).toMatchObject({ records: [{ display_name: "util:mine" }] });
    await runJson(["share", "util:mine", "private"], { home: home.path });
    expect(await seen()).toMatchObject({ records: [] });
    expect((await runPml(["share", "util:mine", "everybody"], { home: home.path })).code).toBe(EXIT.usage);
  },
  60_000,
);

test("of signed-in principals an admin makes a program public, and others do not", async () => {
  await using gateway = await startRemoteGateway({}, { auth: { adminScope: "pml:admin" } });
  const make = async (scope: string, name: string): Promise<unknown> => {
    const token = await gateway.issuer.sign({ sub: scope, scope });
    await using client = await gateway.connect(token, "auto");
    return await execute(client, { name, code: `return "${name}"`, visibility: "public" });
  };
  expect(await make("mcp", "util:of_bob")).toMatchObject({ status: "error", error: { code: "person_needed" } });
  expect(await make("mcp pml:admin", "util:of_ada")).toMatchObject({ status: "success" });
}, 60_000);

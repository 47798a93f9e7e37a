import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve } from "../support/decide.ts";
import { call } from "../support/gateway-home.ts";
import { allowsForms, clientKinds, connectClient, shimKinds } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";

let scene: CountingScene;

beforeAll(async () => {
  scene = await openCountingScene({ permissions: { deny: ["counting:drop"], ask: ["counting:put"] }, ...allowsForms });
});

afterAll(() => scene[Symbol.asyncDispose]());

const APPROVAL = /apr_[0-9a-z]{10}/;

describe("a tool that an agent calls itself", () => {
  test.each(clientKinds)(
    "is refused where a rule denies it, with the rule, over $transport ($era) [13.6-AC3]",
    async (kind) => {
      const before = scene.happened();
      await using connected = await connectClient(scene.home.path, kind);
      for (const name of ["counting__drop", "counting:drop"]) {
        const refused = await call(connected.client, name, { key: "x" });
        expect(refused.isError).toBe(true);
        expect(refused.text).toContain(`counting:drop: denied: "counting:drop" in permissions.deny[0]`);
      }
      expect(scene.happened()).toEqual(before);
    },
  );

  test("is not asked about merely because it changes something", async () => {
    await using connected = await connectClient(scene.home.path);
    expect(await call(connected.client, "counting__add", { key: "plain" })).toMatchObject({ isError: false });
    expect(scene.happened().at(-1)).toBe("add plain");
  });

  test("waits for a person where a rule says so, and the same call goes through once", async () => {
    const home = scene.home.path;
    await using connected = await connectClient(home);
    const put = (key: string) => call(connected.client, "counting__put", { key });
    const asked = await put("one");
    expect(asked).toMatchObject({ isError: true, text: expect.stringContaining("A person has to decide") });
    const [id = ""] = APPROVAL.exec(asked.text) ?? [];
    expect((await put("one")).text).toContain(id);
    expect(await runJson(["inbox", id], { home })).toMatchObject({ intent: "call counting:put directly" });
    await approve(home, id);
    expect((await put("other")).isError).toBe(true);
    expect(await put("one")).toMatchObject({ isError: false });
    expect((await put("one")).isError).toBe(true);
    expect(scene.happened().filter((line) => line.startsWith("put"))).toEqual(["put one"]);
    const { code } = await runPml(["call", "counting:put", "--arg", "key=three"], { home });
    expect(code).toBe(4);
  });

  test.each(shimKinds)(
    "is asked about through a client that a person allowed, over $transport ($era)",
    async (kind) => {
      const before = scene.happened().length;
      await using yes = await connectClient(scene.home.path, {
        ...kind,
        answer: { action: "accept", content: { answer: "once" } },
      });
      const key = `${kind.transport} ${kind.era}`;
      expect(await call(yes.client, "counting__put", { key })).toMatchObject({ isError: false });
      expect(yes.questions[0]).toContain("counting:put");
      await using no = await connectClient(scene.home.path, {
        ...kind,
        answer: { action: "accept", content: { answer: "refuse", reason: "not today" } },
      });
      const refused = await call(no.client, "counting__put", { key: `${key} no` });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("not today") });
      expect(scene.happened().slice(before)).toEqual([`put ${key}`]);
    },
  );

  test("is refused, whatever it is, while the permissions cannot be read", async () => {
    const file = join(scene.home.path, "mcp-permissions.yaml");
    await using connected = await connectClient(scene.home.path);
    const read = () => call(connected.client, "counting__read", { key: "broken" });
    expect((await read()).isError).toBe(false);
    writeFileSync(file, "counting: [oops\n");
    await until("nothing is permitted", async () => (await read()).isError);
    expect((await read()).text).toContain(file);
    writeFileSync(file, "{}\n");
    await until("it is mended", async () => !(await read()).isError);
  });
});

import { createHash } from "node:crypto";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, expect, test } from "vitest";
import { canonical } from "../../src/base/canonical.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { makeFolder } from "../../test/support/folder.ts";
import { Random } from "../../test/support/random.ts";
import { behaviourOf } from "../generalise/gold-task.ts";
import type { ServerName } from "./entities.ts";
import { type Outcome, runHere } from "./gold.ts";
import { readIntents } from "./intents.ts";
import { seedWorld } from "./seed.ts";
import { readTemplates, type Template } from "./templates.ts";
import { listToolCalls } from "./tool-call.ts";
import { describeState, SERVER_NAMES, toolsOfServer } from "./world.ts";
import { WorldFolder } from "./world-folder.ts";
import { writeSolution } from "./write-program.ts";

const templates = readTemplates();
const seed = describeState(seedWorld());
const find = (id: string): Template => templates.find((each) => each.id === id) as Template;
const toolsIn = ({ program }: Template): string[] =>
  listToolCalls(program).map(
    ({ server, tool, entries }) =>
      `${server}:${tool}(${entries
        .map(([name]) => name)
        .toSorted()
        .join()})`,
  );

/** Names of results are of no interest. */
const describeOutcome = ({ state, result }: Outcome): string => `${canonical(Object.values(result ?? {}))} ${state}`;

const goldEnds = new Map<JsonObject, Outcome>();
beforeAll(async () => {
  for (const { program, instances } of templates)
    for (const args of instances) goldEnds.set(args, await runHere(program, args, seedWorld()));
});

test("the world has the size that the benchmarks need", () => {
  expect(SERVER_NAMES.length).toBeGreaterThanOrEqual(4);
  expect(SERVER_NAMES.flatMap((name) => toolsOfServer(name)).length).toBeGreaterThanOrEqual(40);
  expect(templates).toHaveLength(60);
  expect(templates.every(({ instances }) => new Set(instances.map((each) => canonical(each))).size === 5)).toBe(true);
  expect(templates.filter(({ twin }) => twin !== undefined).length).toBeGreaterThanOrEqual(10);
});

test("the state and the instances are the same each time", () => {
  expect(describeState(seedWorld())).toBe(seed);
  const drawn = canonical(templates.map(({ id, instances }) => [id, instances]));
  // The intents name these values, and have to be written again when they change.
  expect(createHash("sha256").update(drawn).digest("hex").slice(0, 16)).toBe("6c2ce3c455fc6092");
});

test("every template has an intent for each instance", () => {
  expect(Object.keys(readIntents(templates)).toSorted()).toEqual(templates.map(({ id }) => id).toSorted());
});

test("a third of the intents lack a value that the task needs", () => {
  const intents = readIntents(templates);
  const lacking = templates.flatMap(({ id, instances }) =>
    instances.filter((values, index) => {
      const text = intents[id]?.[index]?.toLowerCase() ?? "";
      return Object.values(values)
        .flat()
        .some((value) => !text.includes((typeof value === "string" ? value : JSON.stringify(value)).toLowerCase()));
    }),
  );
  expect(lacking.length).toBeGreaterThanOrEqual(90);
  expect(lacking.length).toBeLessThanOrEqual(110);
});

test("some instances leave nothing to do, and others change something", () => {
  const unchanged = [...goldEnds.values()].filter(({ state }) => state === seed).length;
  expect(unchanged).toBeGreaterThanOrEqual(30);
  expect(goldEnds.size - unchanged).toBeGreaterThanOrEqual(200);
});

test.each(["literal", "args"] as const)("every style of a solution reaches the gold state, mode %s", async (mode) => {
  const random = new Random(7);
  const texts = new Set<string>();
  for (const { id, program, instances } of templates)
    for (const args of instances) {
      const gold = goldEnds.get(args) as Outcome;
      const text = writeSolution(program, args, mode, random);
      const written = await runHere(text, mode === "args" ? args : {}, seedWorld());
      expect(written.state, `${id}\n${text}`).toBe(gold.state);
      expect(behaviourOf(written.calls), `${id}\n${text}`).toBe(behaviourOf(gold.calls));
      texts.add(text);
    }
  expect(texts.size).toBe(300);
});

test.each(templates.filter(({ twin }) => twin !== undefined).map((each) => [each.id, each.twin ?? ""]))(
  "%s and %s call the same tools and do different things",
  async (id, twin) => {
    const [left, right] = [find(id), find(twin)];
    expect(toolsIn(left)).toEqual(toolsIn(right));
    let differ = false;
    for (const args of [...left.instances, ...right.instances]) {
      const one = await runHere(left.program, args, seedWorld());
      const other = await runHere(right.program, args, seedWorld());
      differ ||= describeOutcome(one) !== describeOutcome(other);
      if (differ) break;
    }
    expect(differ).toBe(true);
  },
);

test("a server answers over stdio, and its state is reset and read beside it", async () => {
  await using place = await makeFolder();
  const folder = new WorldFolder(place.path);
  expect(folder.read()).toBe(seed);
  await using shop = await connect(folder, "shop");
  const { tools } = await shop.client.listTools();
  expect(tools.find(({ name }) => name === "get_order")?.annotations?.readOnlyHint).toBe(true);
  const cancel = { name: "cancel_order", arguments: { order_id: "O-5000", reason: "too slow" } };
  expect((await shop.client.callTool(cancel)).structuredContent).toMatchObject({ status: "cancelled" });
  expect(folder.read()).not.toBe(seed);
  const gone = await shop.client.callTool({ name: "get_order", arguments: { order_id: "O-1" } });
  expect(gone).toMatchObject({ isError: true, content: [{ text: "There is no order O-1" }] });
  folder.reset();
  expect(folder.read()).toBe(seed);
});

async function connect(folder: WorldFolder, name: ServerName): Promise<{ readonly client: Client } & AsyncDisposable> {
  const { command = "", args = [] } = folder.entries()[name] as { command?: string; args?: string[] };
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

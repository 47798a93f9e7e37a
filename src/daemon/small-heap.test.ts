import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** In a process of its own, since the flags are for all of it: objects that stay make the space for new ones grow. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { keepHeapSmall, settleHeap } from ${JSON.stringify(new URL("./small-heap.ts", import.meta.url).href)};
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20;
  const stay = [];
  const work = async () => {
    for (let round = 0; round < 30; round += 1) {
      for (let at = 0; at < 20_000; at += 1) stay.push({ at, round });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  keepHeapSmall();
  await work();
  const [loaded] = [young()];
  settleHeap();
  await work();
  console.log(JSON.stringify({ loaded, settled: young() }));
`;

test("the space for new objects stays as it is while modules are loaded, and then grows to 4 MB", async () => {
  const node = promisify(execFile);
  const { stdout } = await node(process.execPath, ["--input-type=module", "--eval", PROGRAM]);
  expect(JSON.parse(stdout)).toEqual({ loaded: 2, settled: 4 });
});

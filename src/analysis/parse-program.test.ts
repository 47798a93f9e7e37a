import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { parseProgram } from "./parse-program.ts";

const PROGRAMS = 30;
/** All the trees together are 17 MB. */
const MAX_LEFT = 3e6;

/** Of the young generation only: what lasts beyond it slows down every request that comes after. */
function collectYoung(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  for (let round = 0; round < 3; round += 1) collect({ type: "minor" });
}

test("trees are gone as soon as nobody uses them", () => {
  const program = "await mcp.fs.read({ path: args.path });\n".repeat(300);
  const parseAll = (): void => {
    for (let round = 0; round < PROGRAMS; round += 1) parseProgram(program);
    collectYoung();
  };
  parseAll();
  const before = process.memoryUsage().heapUsed;
  parseAll();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(MAX_LEFT);
});

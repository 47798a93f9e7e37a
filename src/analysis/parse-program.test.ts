import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { parseProgram } from "./parse-program.ts";

const PROGRAMS = 30;
/** Far below the 17 MB of all trees together. */
const MAX_LEFT = 3e6;

/** Collects the young generation only: objects that survive it slow down every later request. */
function collectYoung(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  for (let round = 0; round < 3; round += 1) collect({ type: "minor" });
}

test("parseProgram leaves no tree behind once nobody uses it", () => {
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

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/folder.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = `
  import { startAgainTold } from ${JSON.stringify(new URL("./small-malloc.ts", import.meta.url).href)};
  startAgainTold("/home/pml", process.env);
  const { pid, argv, execArgv, env } = process;
  const { MALLOC_TRIM_THRESHOLD_: trim, OTHER: other } = env;
  console.log(JSON.stringify({ pid, args: argv.slice(2), execArgv, trim, other }));
`;

test.runIf(process.platform === "linux")(
  "a process starts again in its own place, with the same arguments, unless the environment has a wish",
  async () => {
    await using folder = await makeFolder();
    const file = join(folder.path, "program.mjs");
    writeFileSync(file, PROGRAM);
    const run = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
      const child = spawn(process.execPath, ["--no-warnings", file, "serve", "--port=0"], { env });
      const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
      return { ...(JSON.parse(said) as object), child: child.pid, errors };
    };
    const usual = { args: ["serve", "--port=0"], execArgv: ["--no-warnings"], other: "x", errors: "" };
    const first = await run({ OTHER: "x" });
    expect(first).toMatchObject({ ...usual, trim: "131072" });
    expect(first).toHaveProperty("pid", (first as { child: number }).child);
    expect(await run({ OTHER: "x", MALLOC_TRIM_THRESHOLD_: "9" })).toMatchObject({ ...usual, trim: "9" });
  },
);

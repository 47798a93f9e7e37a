/**
 * Fault injection: damages the store and the sandbox, and checks that their promises hold.
 *
 *     npm run torture -- <name|all> [--rounds N] [--seed N] [--only PART,…] [--control]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { cacheFolder } from "../support/cache-folder.ts";
import { diskFull } from "./disk-full.ts";
import { fuzz } from "./fuzz.ts";
import { handover } from "./handover.ts";
import { killNine } from "./kill-nine.ts";
import { names } from "./names.ts";
import { powerLoss } from "./power-loss.ts";
import { programs } from "./programs.ts";
import { sandbox } from "./sandbox.ts";
import type { CaseOptions, CaseOutcome, TortureCase } from "./torture-case.ts";
import { replay } from "./replay.ts";
import { tenants } from "./tenants.ts";
import { twice } from "./twice.ts";

const cases: readonly TortureCase[] = [
  killNine,
  powerLoss,
  handover,
  twice,
  diskFull,
  replay,
  sandbox,
  names,
  fuzz,
  programs,
  tenants,
];

type Flags = Omit<CaseOptions, "rounds" | "say"> & { readonly rounds: number | undefined };

async function runCase(
  torture: TortureCase,
  { rounds = torture.defaultRounds, seed, control, only }: Flags,
): Promise<boolean> {
  const { name, promise, parts = [] } = torture;
  const unknown = only.filter((part) => !parts.includes(part));
  if (unknown.length > 0)
    throw new Error(`--only: ${name} has no part "${unknown.join(", ")}", but ${parts.join(", ")}`);
  const say = (line: string): void => console.log(`${name}: ${line}`);
  say(`${promise} (${rounds} rounds, --seed ${seed})`);
  const started = performance.now();
  const outcome = await torture.run({ rounds, seed, control, only, say }).catch(toOutcome);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.table(outcome.table);
  for (const problem of outcome.problems) say(problem);
  const path = cacheFolder(`torture-${[name, ...only].join("-")}.json`);
  mkdirSync(dirname(path), { recursive: true });
  // Times mean little without the load of the machine.
  const document = { case: name, promise, rounds, seed, seconds, load: loadavg(), ...outcome };
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`);
  say(`${outcome.holds ? "holds" : "DOES NOT HOLD"} (${seconds} s, ${path})`);
  return outcome.holds;
}

/** A failure of the harness proves nothing, so the promise counts as broken. */
function toOutcome(error: unknown): CaseOutcome {
  const reason = error instanceof Error ? String(error.stack) : String(error);
  return { holds: false, problems: [reason], table: [{ result: "the harness failed" }] };
}

function readCount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name} must be a whole number above 0, not "${text}"`);
  return Number(text);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    seed: { type: "string" },
    only: { type: "string", default: "" },
    control: { type: "boolean", default: false },
  },
});
const flags: Flags = {
  rounds: readCount(values.rounds, "rounds"),
  seed: readCount(values.seed, "seed") ?? Math.ceil(Math.random() * 2 ** 31),
  control: values.control,
  only: values.only.split(",").filter((part) => part !== ""),
};
const [wanted] = positionals;
const chosen = cases.filter(({ name }) => wanted === "all" || name === wanted);
if (chosen.length === 0) {
  console.log("npm run torture -- <name|all> [--rounds N] [--seed N] [--only PART,…] [--control]\n");
  for (const { name, promise, defaultRounds } of cases) {
    console.log(`  ${name.padEnd(10)} ${promise} (${defaultRounds} rounds)`);
  }
  process.exitCode = wanted === undefined ? 0 : 2;
}
for (const torture of chosen) {
  if (!(await runCase(torture, flags))) process.exitCode = 1;
}

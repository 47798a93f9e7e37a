import { EXIT } from "../../base/errors.ts";
import type { Finding } from "../finding.ts";
import { withProgress } from "../progress.ts";
import type { Answer, Command, Input } from "../command.ts";

export const doctor: Command = {
  name: "doctor",
  group: "Look",
  summary: "check the set-up and say how to fix what is wrong",
  examples: ["pml doctor", "pml doctor --fix"],
  options: [{ flags: "--fix", description: "repair what can be repaired safely" }],
  async run(input): Promise<Answer> {
    const config = input.options["config"];
    const flag = typeof config === "string" ? config : undefined;
    const { runChecks } = await import("../checks.ts");
    const check = (): Promise<Finding[]> =>
      withProgress("Checking", input.terminal.options.quiet, () => runChecks(flag));
    let findings = await check();
    const repairable = findings.filter(({ repair }) => repair !== undefined);
    if (input.options["fix"] === true && repairable.length > 0) {
      for (const { repair } of repairable) repair?.();
      findings = await check();
    }
    const failed = findings.some(({ state }) => state === "failure");
    return {
      data: {
        healthy: !failed,
        checks: findings.map(({ repair, ...finding }) => ({ ...finding, repairable: repair !== undefined })),
      },
      text: findings.map((finding) => describe(finding, input)).join("\n"),
      exit: failed ? EXIT.checkFailed : EXIT.ok,
    };
  },
};

function describe({ check, state, value, details = [], fix }: Finding, { terminal }: Input): string {
  const { green, yellow, red } = terminal.colors;
  const mark = { ok: green("✓"), warning: yellow("!"), failure: red("✗") }[state];
  const more = [...details.map((line) => `  ${line}`), ...(fix === undefined ? [] : [fix])];
  return [`${mark} ${check}  ${value}`, ...more.map((line) => `    ${line}`)].join("\n");
}

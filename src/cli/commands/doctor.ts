import { EXIT } from "../../errors.ts";
import type { Finding } from "../checks.ts";
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
    let findings = await runChecks(flag);
    const repairable = findings.filter(({ repair }) => repair !== undefined);
    if (input.options["fix"] === true && repairable.length > 0) {
      for (const { repair } of repairable) repair?.();
      findings = await runChecks(flag);
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

function describe({ check, state, value, fix }: Finding, { terminal }: Input): string {
  const { green, yellow, red } = terminal.colors;
  const mark = { ok: green("✓"), warning: yellow("!"), failure: red("✗") }[state];
  return `${mark} ${check}  ${value}${fix === undefined ? "" : `\n    ${fix}`}`;
}

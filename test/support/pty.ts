/** Runs the command line in a real terminal, as a person does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type PmlOptions, PML, testEnvironment } from "./pml.ts";

/** A key, and the text on the screen that it is pressed after. */
export interface Keystroke {
  readonly after: string | RegExp;
  readonly press: string;
}

const SCRIPT = "/usr/bin/script";

/** Runs a command of PML on a terminal of its own; `screen` is all that the terminal showed. */
export async function runInTerminal(
  args: readonly string[],
  options: PmlOptions,
  keys: readonly Keystroke[] = [],
): Promise<{ readonly code: number | null; readonly screen: string }> {
  if (!existsSync(SCRIPT)) throw new Error(`${SCRIPT} is missing; it is part of util-linux and makes the terminal`);
  const command = [process.execPath, PML, ...args].map(quote).join(" ");
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], {
    env: { ...testEnvironment(options), SHELL: "/bin/sh", TERM: "xterm" },
    cwd: options.cwd ?? options.home,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = [...keys];
  let screen = "";
  let read = 0;
  const press = (): void => {
    const [next] = waiting;
    const found = next === undefined ? -1 : screen.slice(read).search(toPattern(next.after));
    if (next === undefined || found === -1) return;
    read = screen.length;
    waiting.shift();
    child.stdin.write(next.press);
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    press();
  });
  press();
  const [code] = (await once(child, "close")) as [number | null];
  if (waiting.length > 0) throw new Error(`The terminal never showed ${String(waiting[0]?.after)}:\n${screen}`);
  return { code, screen };
}

/** The question of every command that decides. */
export const YES: Keystroke = { after: "any other key: no", press: "y" };

function toPattern(after: string | RegExp): RegExp {
  return after instanceof RegExp ? after : new RegExp(after.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

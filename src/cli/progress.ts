import { readTerminalPreferences } from "../config/environment.ts";

const SHOW_AFTER_MS = 300;
const REDRAW_MS = 100;
const LINE_EVERY_MS = 10_000;

/**
 * Shows progress of slow work on stderr: one redrawn line on a terminal, an occasional line in CI, nothing in a pipe.
 */
export async function withProgress<T>(label: string, quiet: boolean, work: () => Promise<T>): Promise<T> {
  const { stderr } = process;
  const { ci } = readTerminalPreferences();
  if (quiet || !(stderr.isTTY || ci)) return work();
  const started = Date.now();
  const seconds = (): string => ((Date.now() - started) / 1000).toFixed(0);
  const draw = (): void =>
    void stderr.write(stderr.isTTY ? `\r\u001B[2K${label} … ${seconds()}s` : `${label} … ${seconds()}s\n`);
  let redraw: NodeJS.Timeout | undefined;
  const begin = setTimeout(() => {
    draw();
    redraw = setInterval(draw, stderr.isTTY ? REDRAW_MS : LINE_EVERY_MS);
  }, SHOW_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(begin);
    clearInterval(redraw);
    if (redraw !== undefined && stderr.isTTY) stderr.write("\r\u001B[2K");
  }
}

import { randomUUID } from "node:crypto";
import pc from "picocolors";
import { readTerminalPreferences } from "../config/environment.ts";
import { ERRORS, toErrorReport } from "../base/errors.ts";
import { withoutCommands } from "../base/visible.ts";
import type { Answer } from "./command.ts";

export interface TerminalOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean | undefined;
  readonly fields: readonly string[] | undefined;
}

const COLORS = ["red", "green", "yellow", "cyan", "dim", "bold"] as const;

export type Colors = Readonly<Record<(typeof COLORS)[number], (text: string) => string>>;

const COMMAND = "\u001B[";

/** Stands for the beginning of a colour until the text is written. Nobody can guess it, so no foreign text has one. */
const MARK = `\u{F8FF}${randomUUID()}`;

/**
 * Writes the answer to stdout and everything about it to stderr. On a terminal, commands to it within a text are shown
 * and not obeyed: programs, results, names and logs are texts of others. Only colours of PML's own are.
 */
export class Terminal {
  readonly options: TerminalOptions;
  readonly colors: Colors;

  constructor(options: TerminalOptions) {
    this.options = options;
    const preferred = options.color ?? readTerminalPreferences().color;
    this.colors = createColors(preferred ?? process.stdout.isTTY);
  }

  /** Prints one JSON document with --json, otherwise the text, with notes on stderr. */
  answer({ data, text, notes = [] }: Answer): void {
    if (this.options.json) writeOut(JSON.stringify({ ok: true, data: this.#trim(data) }));
    else if (text !== "") this.print(text);
    if (!this.options.quiet && !this.options.json) for (const note of notes) this.say(note);
  }

  /** Prints lines of an answer that never ends; those of --json are exact. */
  print(text: string): void {
    writeOut(this.options.json ? text : toShown(text, process.stdout));
  }

  say(line: string): void {
    process.stderr.write(`${toShown(line, process.stderr)}\n`);
  }

  /** Reports an error with its values, the next step, and its code; with --json also as a document. */
  fail(error: unknown): number {
    const report = toErrorReport(error);
    if (this.options.json) {
      const { code, message, hint, id, details } = report;
      writeOut(JSON.stringify({ ok: false, error: { code, id, message, hint, details, docs: docsLink(id) } }));
    }
    const { red, dim } = this.colors;
    this.say(`${red("✗")} ${report.message}`);
    for (const line of (report.hint ?? "").split("\n").filter(Boolean)) this.say(`  ${line}`);
    this.say(dim(`  (${report.id})`));
    if (this.options.verbose && error instanceof Error) this.say(String(error.stack));
    return ERRORS[report.code].exit;
  }

  #trim(data: unknown): unknown {
    const { fields } = this.options;
    if (fields === undefined) return data;
    const pick = (item: unknown): unknown =>
      typeof item === "object" && item !== null
        ? Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name)))
        : item;
    return Array.isArray(data) ? data.map(pick) : pick(data);
  }
}

function docsLink(id: string): string {
  return `docs/reference/errors.md#${id.toLowerCase()}`;
}

function writeOut(text: string): void {
  process.stdout.write(`${text}\n`);
}

function createColors(enabled: boolean): Colors {
  const painter = pc.createColors(enabled);
  const paint = (name: (typeof COLORS)[number]): [string, (text: string) => string] => {
    const [open = "", close = ""] = painter[name]("\n").replaceAll(COMMAND, MARK).split("\n");
    return [name, (text) => `${open}${text}${close}`];
  };
  return Object.fromEntries(COLORS.map(paint)) as Colors;
}

/** Keeps the exact text in a pipe or file. */
function toShown(text: string, { isTTY }: { readonly isTTY: boolean }): string {
  const parts = text.split(MARK);
  return (isTTY ? parts.map(withoutCommands) : parts).join(COMMAND);
}

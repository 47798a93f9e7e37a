import pc from "picocolors";
import { readTerminalPreferences } from "../config/environment.ts";
import { ERRORS, toErrorReport } from "../base/errors.ts";
import type { Answer } from "./command.ts";

export interface TerminalOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean | undefined;
  readonly fields: readonly string[] | undefined;
}

/** Writes the answer to stdout and everything about it to stderr. */
export class Terminal {
  readonly options: TerminalOptions;
  readonly colors: ReturnType<typeof pc.createColors>;

  constructor(options: TerminalOptions) {
    this.options = options;
    const preferred = options.color ?? readTerminalPreferences().color;
    this.colors = pc.createColors(preferred ?? process.stdout.isTTY);
  }

  /** Prints one JSON document with --json, otherwise the text, with notes on stderr. */
  answer({ data, text, notes = [] }: Answer): void {
    if (this.options.json) writeOut(JSON.stringify({ ok: true, data: this.#trim(data) }));
    else if (text !== "") writeOut(text);
    if (!this.options.quiet && !this.options.json) for (const note of notes) this.say(note);
  }

  say(line: string): void {
    process.stderr.write(`${line}\n`);
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

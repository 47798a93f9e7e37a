import type { Terminal } from "./terminal.ts";

/** The groups of `pml --help`, in its order. */
export const GROUPS = ["Start", "Use", "Look", "Decide", "Manage"] as const;

export interface CommandOption {
  /** In commander's syntax: `--port <number>`, `--yes`. */
  readonly flags: string;
  readonly description: string;
  readonly parse?: (text: string) => string | number;
  readonly hidden?: true;
}

export interface CommandArgument {
  /** In commander's syntax: `<file>` is required, `[file]` is not. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The completions that a shell offers: names of records, if a daemon runs. */
  readonly completes?: "record";
}

/** Values of options as commander parsed them; a flag that was not given is absent. */
export type OptionValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The answer of a command. One place prints it, as text or as JSON. */
export interface Answer {
  readonly data: unknown;
  readonly text: string;
  /** Lines for stderr: the change, the way to undo it, the next step. */
  readonly notes?: readonly string[];
  readonly exit?: number;
}

export interface Input {
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly terminal: Terminal;
}

export interface Command {
  readonly name: string;
  readonly group: (typeof GROUPS)[number];
  readonly summary: string;
  readonly examples: readonly [string, string];
  readonly args?: readonly CommandArgument[];
  readonly options?: readonly CommandOption[];
  /** Returns undefined if the command has streamed its answer itself. */
  run(input: Input): Promise<Answer | undefined>;
}

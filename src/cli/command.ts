import type { Terminal } from "./terminal.ts";

/** The groups of `pml --help`, in its order. */
export const GROUPS = ["Start", "Use", "Look", "Decide", "Manage"] as const;

export interface CommandOption {
  /** As commander reads it: `--port <number>`, `--yes`. */
  readonly flags: string;
  readonly description: string;
  readonly parse?: (text: string) => string | number;
  readonly hidden?: true;
}

export interface CommandArgument {
  /** As commander reads it: `<file>` is required, `[file]` is not. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** What a shell offers for it: names of records, where a daemon runs. */
  readonly completes?: "record";
}

/** Values of options as commander parsed them; a flag that was not given is absent. */
export type OptionValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** What a command has to say. One place prints it, as text or as JSON. */
export interface Answer {
  readonly data: unknown;
  readonly text: string;
  /** Said on stderr: what changed, how to undo it, what to do next. */
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
  /** undefined: the command has written its answer itself, as a stream. */
  run(input: Input): Promise<Answer | undefined>;
}

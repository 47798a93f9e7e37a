import tab from "@bomb.sh/tab/commander";
import { Command as Commander, CommanderError, Option } from "commander";
import { findClosest } from "../base/closest.ts";
import { isDebug } from "../config/environment.ts";
import { noteUntrusted } from "../config/untrusted-files.ts";
import { EXIT, PmlError } from "../base/errors.ts";
import { version } from "../base/package-info.ts";
import type { Command, OptionValues } from "./command.ts";
import { commands } from "./commands.ts";
import { completeNames, readRecordNames } from "./complete-names.ts";
import { helpManifest } from "./help-manifest.ts";
import { Terminal } from "./terminal.ts";
import { showWelcome } from "./welcome.ts";

interface GlobalOptions {
  readonly json?: boolean;
  readonly fields?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
}

/** Runs one command line and returns its exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  let exit: number = EXIT.ok;
  const names = argv[0] === "complete" ? await readRecordNames() : [];
  const program = createProgram(async (command, args, options) => {
    exit = await runCommand(command, args, { ...options, ...program.opts() });
  }, names);
  const terminal = new Terminal(readTerminalOptions({ json: argv.includes("--json") }));
  try {
    if (argv[0] === "help" && argv.includes("--json")) {
      terminal.answer({ data: helpManifest(program), text: "" });
      return EXIT.ok;
    }
    await program.parseAsync(argv, { from: "user" });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) return terminal.fail(error);
    // help and version come as an error with exit code 0
    return error.exitCode === 0 ? EXIT.ok : terminal.fail(usageError(error));
  }
}

/** Builds the command line for commander; the reference page is generated from the same object. */
export function createProgram(
  run: (command: Command, args: readonly string[], options: OptionValues) => Promise<void>,
  recordNames: readonly string[] = [],
): Commander {
  const program = new Commander("pml")
    .description("PML remembers what your agents did with their MCP tools and lets them do it again by name.")
    .version(version, "-V, --version")
    .option("--config <file>", "configuration file (default: $PML_HOME/pml.json)")
    .option("--json", "print one JSON document")
    .option("--fields <a,b>", "with --json: only these fields")
    .option("-q, --quiet", "print the answer and nothing else")
    .option("--verbose", "print more, with the origin of errors")
    .option("--no-color", "no colours")
    .exitOverride()
    .configureOutput({ writeErr: () => undefined }) // usage errors are printed by our own rules
    .showSuggestionAfterError(true)
    .allowExcessArguments(true)
    .action(() => {
      const [word] = program.args;
      return word === undefined ? run(showWelcome, [], {}) : Promise.reject(unknownCommand(word));
    });
  for (const command of commands) addCommand(program, command, run);
  completeNames(tab(program, { completionCommandName: "completion" }), commands, recordNames);
  return program;
}

function addCommand(program: Commander, command: Command, run: Parameters<typeof createProgram>[0]): void {
  const sub = program
    .command(command.name)
    .description(command.summary)
    .helpGroup(`${command.group}:`)
    .addHelpText("before", `Examples:\n  ${command.examples.join("\n  ")}\n`)
    .exitOverride();
  for (const { name, description, choices } of command.args ?? []) {
    const argument = sub.createArgument(name, description);
    sub.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  for (const { flags, description, parse, hidden } of command.options ?? []) {
    const option = new Option(flags, description);
    if (parse !== undefined) option.argParser(parse);
    sub.addOption(hidden === true ? option.hideHelp() : option);
  }
  sub.action(() => run(command, sub.args, sub.opts()));
}

async function runCommand(command: Command, args: readonly string[], options: OptionValues): Promise<number> {
  const terminal = new Terminal(readTerminalOptions(options));
  try {
    noteProjectFiles(command, options, terminal);
    const answer = await command.run({ args, options, terminal });
    if (answer === undefined) return EXIT.ok;
    terminal.answer(answer);
    return answer.exit ?? EXIT.ok;
  } catch (error) {
    return terminal.fail(error);
  }
}

/** These name untrusted files in their answer. */
const NAMING_COMMANDS: readonly string[] = ["status", "doctor", "trust"];

function noteProjectFiles({ name }: Command, { config }: OptionValues, terminal: Terminal): void {
  if (terminal.options.quiet || NAMING_COMMANDS.includes(name)) return;
  noteUntrusted((line) => terminal.say(line), typeof config === "string" ? config : undefined);
}

function readTerminalOptions({ json, fields, quiet, verbose, color }: GlobalOptions): Terminal["options"] {
  return {
    json: json === true,
    quiet: quiet === true,
    verbose: verbose === true || isDebug(),
    color: color === false ? false : undefined,
    fields: fields?.split(","),
  };
}

function unknownCommand(word: string): PmlError {
  const closest = findClosest(
    word,
    commands.map(({ name }) => name),
  );
  const hint = closest === undefined ? "All commands: pml --help" : `Did you mean: pml ${closest}`;
  return new PmlError("usage", `There is no command "${word}"`, { hint });
}

function usageError(error: CommanderError): PmlError {
  const [problem = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = rest.join(" ").replace(/^\((.*)\)$/, "$1");
  return new PmlError("usage", problem, { hint: suggestion || "All commands and flags: pml --help" });
}

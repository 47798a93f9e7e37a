import type { Command } from "commander";
import { ERRORS, EXIT } from "../base/errors.ts";

/** Describes commands, flags and exit codes for programs, as `pml help --json` prints them. */
export function helpManifest(program: Command): Record<string, unknown> {
  return {
    name: program.name(),
    version: program.version(),
    options: describeOptions(program),
    commands: program.createHelp().visibleCommands(program).map(describeCommand),
    exitCodes: EXIT,
    errors: Object.entries(ERRORS).map(([code, { id, exit, meaning }]) => ({ code, id, exit, meaning })),
  };
}

function describeCommand(command: Command): Record<string, unknown> {
  return {
    name: command.name(),
    summary: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      description: argument.description,
    })),
    options: describeOptions(command),
  };
}

function describeOptions(command: Command): unknown[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ flags, description }) => ({ flags, description }));
}

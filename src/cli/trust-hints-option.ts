import type { CommandOption } from "./command.ts";

export const trustHintsOption: CommandOption = {
  flags: "--trust-hints",
  description: "believe what the server says about its tools, after a key pressed in a terminal",
};

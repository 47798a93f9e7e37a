import { SourceText, WRAPPER_START } from "./source-text.ts";
import type { InstrumentedProgram } from "./structure.ts";
import { type EditedText, originalOffset } from "./text-edits.ts";

/** Adds the way back to the submitted program, which messages of errors need. */
export function createInstrumented({ text, runs }: EditedText, source: SourceText): InstrumentedProgram {
  let lines: SourceText | undefined;
  return {
    code: text,
    runs,
    originalPosition(line, column) {
      lines ??= new SourceText(text);
      return source.position(originalOffset(runs, lines.offset({ line, column })));
    },
  };
}

/** The lines of a submitted program; offsets count from the start of its wrapper. */
export function submittedText(program: string): SourceText {
  return new SourceText(program, WRAPPER_START.length);
}

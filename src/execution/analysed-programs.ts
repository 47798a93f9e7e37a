import type { Catalogue } from "../catalogue/catalogue.ts";
import { analyseProgram } from "../analysis/analyse-program.ts";
import type { AnalysedProgram, SyntaxProblem } from "../analysis/structure.ts";
import type { PreparedSource } from "../registry/capability.ts";
import { NO_SIGNING, type Signing } from "../registry/signature.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { findClosest } from "../base/closest.ts";
import { PmlError } from "../base/errors.ts";
import { looksSecret, redactText } from "./redact.ts";
import { describeToolSource, type ToolUse } from "./tool-source.ts";

/** A program that cannot be read. */
export class SyntaxFailure extends Error {
  readonly problem: SyntaxProblem;

  constructor(problem: SyntaxProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

const MAX_ANALYSED = 500;

/** Programs by text and state of the tools: what is analysed once is not analysed again. */
export class AnalysedPrograms {
  readonly #tools: Catalogue;
  readonly #signing: Signing;
  readonly #known = new BoundedMap<string, AnalysedProgram>(MAX_ANALYSED);

  constructor(tools: Catalogue, signing: Signing = NO_SIGNING) {
    this.#tools = tools;
    this.#signing = signing;
  }

  analyse(code: string): AnalysedProgram {
    const key = `${this.#tools.version} ${code}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const outcome = analyseProgram(code, this.#tools);
    if (outcome.kind === "syntax_error") throw new SyntaxFailure(outcome.problem);
    this.#known.set(key, outcome.program);
    return outcome.program;
  }

  /** As it is kept; what looks like a secret is not. */
  describe(code: string): PreparedSource {
    const program = this.analyse(code);
    return this.sign({
      source: { type: "code", code: redactText(code) },
      sourceHash: program.hash,
      parameters: program.parameters,
      structure: program.structure,
      toolsUsed: program.tools,
      calls: program.capabilities,
    });
  }

  /** With the signature of whoever runs this gateway. */
  sign(prepared: PreparedSource): PreparedSource {
    const { source, sourceHash, parameters, toolsUsed } = prepared;
    const text = source.type === "code" ? source.code : undefined;
    const other = source.type === "code" ? undefined : source;
    return { ...prepared, signature: this.#signing.sign({ sourceHash, text, source: other, parameters, toolsUsed }) };
  }

  describeTool({ tool, defaults }: ToolUse): PreparedSource {
    const found = this.#tools.findById(tool);
    if (found === undefined) throw toolNotFound(tool, this.#tools);
    return this.sign(describeToolSource(found, defaults));
  }

  /** For what is kept without being run. */
  prepare(code: string): PreparedSource {
    if (looksSecret(code)) {
      throw new PmlError("arguments_invalid", "The program contains what looks like a secret", {
        hint: "Pass secrets in args, or give them to the server in its configuration.",
      });
    }
    try {
      return this.describe(code);
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      const { message, line, column, excerpt } = error.problem;
      throw new PmlError("arguments_invalid", `The code cannot be read: line ${line}, column ${column}: ${message}`, {
        hint: `Line ${line}: ${excerpt.trim()}`,
      });
    }
  }
}

function toolNotFound(id: string, { tools }: Catalogue): PmlError {
  const closest = findClosest(
    id,
    tools.map((tool) => tool.id),
  );
  return new PmlError("tool_not_found", `There is no tool "${id}"`, {
    hint: closest === undefined ? "pml_discover finds tools by intent." : `Did you mean ${closest}?`,
  });
}

import type { Catalogue } from "../catalogue/catalogue.ts";
import { analyseProgram } from "../analysis/analyse-program.ts";
import type { AnalysedProgram, SyntaxProblem } from "../analysis/structure.ts";
import type { PreparedSource } from "../registry/capability.ts";
import { NO_SIGNING, type Signing } from "../registry/signature.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { findClosest } from "../base/closest.ts";
import { PmlError } from "../base/errors.ts";
import { looksSecret, redactText } from "./redact.ts";
import { describeToolSource, type PresetTool } from "./tool-source.ts";

/** A program with a syntax error. */
export class SyntaxFailure extends Error {
  readonly problem: SyntaxProblem;

  constructor(problem: SyntaxProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

const MAX_ANALYSED = 500;

/** Caches analysed programs by their text and the version of the tool directory. */
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

  /** Prepares a program for storage, with secrets redacted. */
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

  /** Adds this gateway's signature. */
  sign(prepared: PreparedSource): PreparedSource {
    const { source, sourceHash, parameters, toolsUsed } = prepared;
    const text = source.type === "code" ? source.code : undefined;
    const other = source.type === "code" ? undefined : source;
    return { ...prepared, signature: this.#signing.sign({ sourceHash, text, source: other, parameters, toolsUsed }) };
  }

  describeTool({ tool, defaults }: PresetTool): PreparedSource {
    const found = this.#tools.findById(tool);
    if (found === undefined) throw toolNotFound(tool, this.#tools);
    return this.sign(describeToolSource(found, defaults));
  }

  /** Prepares a program that is saved without running; throws if it contains a secret or cannot be parsed. */
  prepare(code: string): PreparedSource {
    if (looksSecret(code)) {
      throw new PmlError("arguments_invalid", "The program seems to contain a secret", {
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

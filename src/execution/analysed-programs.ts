import type { Catalogue } from "../catalogue/catalogue.ts";
import type { AnalysisLimits, LimitedOutcome, VersionedCatalogue } from "../analysis/analysis-thread.ts";
import type { AnalysedProgram, SyntaxProblem } from "../analysis/structure.ts";
import type { PreparedSource } from "../registry/capability.ts";
import { NO_SIGNING, type Signing } from "../registry/signature.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { findClosest } from "../base/closest.ts";
import { PmlError } from "../base/errors.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { Secrets } from "../secrets/secrets.ts";
import { findNamedSecrets, type HiddenProgram, hideLiterals, mayHide } from "./hide-literals.ts";
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
/** Longer programs are analysed again each time: a cache of them would take the memory of all others. */
const LONGEST_CACHED = 64 * 1024;

/** Reads programs of others, within limits. */
export interface Analyser {
  readonly limits: () => AnalysisLimits & { readonly maxCodeBytes: number };
  analyse(code: string, catalogue: VersionedCatalogue): Promise<LimitedOutcome>;
}

interface StoringParts {
  readonly signing?: Signing;
  readonly secrets?: Secrets;
}

/** Caches analysed programs by their text and the version of the tool directory. */
export class AnalysedPrograms {
  readonly #tools: Catalogue;
  readonly #analyser: Analyser;
  readonly #signing: Signing;
  readonly secrets: Secrets;
  readonly #known = new BoundedMap<string, AnalysedProgram>(MAX_ANALYSED);

  constructor(
    tools: Catalogue,
    analyser: Analyser,
    { signing = NO_SIGNING, secrets = new Secrets() }: StoringParts = {},
  ) {
    this.#tools = tools;
    this.#analyser = analyser;
    this.#signing = signing;
    this.secrets = secrets;
  }

  async analyse(code: string): Promise<AnalysedProgram> {
    const key = `${this.#tools.version} ${code}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const limits = this.#analyser.limits();
    const bytes = Buffer.byteLength(code);
    if (bytes > limits.maxCodeBytes) throw codeTooLarge(bytes, limits.maxCodeBytes);
    const outcome = await this.#analyser.analyse(code, this.#tools);
    if (outcome.kind === "limit") throw analysisExceeded(outcome.limit, limits[outcome.limit]);
    if (outcome.kind === "syntax_error") throw new SyntaxFailure(outcome.problem);
    if (code.length <= LONGEST_CACHED) this.#known.set(key, outcome.program);
    return outcome.program;
  }

  /** Hides literals that are secret. */
  async hide(code: string): Promise<HiddenProgram<string>> {
    const program = await this.analyse(code);
    return mayHide(code, this.secrets) || findNamedSecrets(program.behaviour).length > 0
      ? hideLiterals(code, program, this.secrets)
      : { source: code, parts: [], values: [] };
  }

  /** Prepares a program for storage, with its secret literals hidden. */
  async describe(code: string, hidden?: HiddenProgram<string>): Promise<PreparedSource> {
    const program = await this.analyse(code);
    const stored = hidden ?? (await this.hide(code));
    const { parameters, structure } = this.#withoutLiterals(program, stored);
    return this.sign({
      source: { type: "code", code: stored.source },
      sourceHash: program.hash,
      parameters,
      structure,
      toolsUsed: program.tools,
      calls: program.capabilities,
      ...(program.behaviour === undefined ? {} : { behaviourKey: program.behaviour.key }),
    });
  }

  /** Structure and parameters quote literals. */
  #withoutLiterals(
    { parameters, structure }: AnalysedProgram,
    hidden: HiddenProgram<string>,
  ): Pick<AnalysedProgram, "parameters" | "structure"> {
    if (hidden.values.length === 0) return { parameters, structure };
    const own = new RunSecrets(this.secrets);
    own.learnProgram(hidden);
    return own.hide({ parameters, structure });
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
    return this.sign(describeToolSource(found, defaults, this.secrets));
  }

  /** Prepares a tool that may be unknown here, unsigned; then only the preset arguments are known. */
  describeAnyTool({ tool, defaults }: PresetTool): PreparedSource {
    return describeToolSource(this.#tools.findById(tool) ?? { id: tool }, defaults, this.secrets);
  }

  /** Prepares a program that is saved without running; throws if it contains a secret or cannot be parsed. */
  async prepare(code: string): Promise<PreparedSource> {
    try {
      const hidden = await this.hide(code);
      if (hidden.values.length === 0) return await this.describe(code, hidden);
      throw new PmlError("arguments_invalid", "The program seems to contain a secret", {
        hint: "Pass secrets in args, or give them to the server in its configuration.",
      });
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      const { message, line, column, excerpt } = error.problem;
      throw new PmlError("arguments_invalid", `The code cannot be read: line ${line}, column ${column}: ${message}`, {
        hint: `Line ${line}: ${excerpt.trim()}`,
      });
    }
  }
}

const EXCEEDED: Readonly<Record<keyof AnalysisLimits, (limit: string) => string>> = {
  maxMillis: (limit) => `Reading the program took longer than ${limit} ms`,
  maxHeapMb: (limit) => `Reading the program needed more than ${limit} MB`,
  maxOutputBytes: (limit) => `The calls, branches and parameters of the program take more than ${limit} bytes`,
};

function analysisExceeded(limit: keyof AnalysisLimits, most: number): PmlError {
  const key = `analysis.${limit}`;
  return new PmlError("limit_exceeded", `${EXCEEDED[limit](most.toLocaleString("en-US"))} (${key})`, {
    hint: `Split the program, or simplify its types; a person can raise ${key}.`,
    details: { limit: key, most },
  });
}

function codeTooLarge(bytes: number, most: number): PmlError {
  const key = "sandbox.maxCodeBytes";
  const [found, limit] = [bytes.toLocaleString("en-US"), most.toLocaleString("en-US")];
  return new PmlError("limit_exceeded", `The program has ${found} bytes, more than ${limit} bytes (${key})`, {
    hint: `Pass data in args instead of code; a person can raise ${key}.`,
    details: { limit: key, most },
  });
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

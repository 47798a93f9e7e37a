import { findBehaviour } from "./behaviour/behaviour.ts";
import { toBehaviourFacts } from "./behaviour/behaviour-facts.ts";
import { exitMarker, markActive } from "./activity.ts";
import { assembleStructure } from "./assemble-structure.ts";
import { findFreeNames } from "./free-names.ts";
import { inferParameters } from "./infer-parameters.ts";
import { declareNames, instrument, OuterRanges } from "./instrument.ts";
import { Literals } from "./literals.ts";
import { type ParsedProgram, parseProgram } from "./parse-program.ts";
import type { ProgramProblem } from "./problem.ts";
import { ProgramHash } from "./program-hash.ts";
import { Refusals } from "./refusals.ts";
import { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import { StaticStructureBuilder } from "./static-structure-builder.ts";
import { TypeStripper } from "./strip-types.ts";
import { createInstrumented, submittedText } from "./instrumented-program.ts";
import type { AnalysisOutcome, ToolCatalogue } from "./structure.ts";
import { traverse } from "./syntax-tree.ts";
import { TextEdits } from "./text-edits.ts";
import { TypeNotes } from "./type-notes.ts";
import { ValueFlow } from "./value-flow.ts";
import type { Site } from "./values.ts";

/**
 * Analyses a program before it runs: its calls and branches, parameters and hash, and the JavaScript to run. Throws
 * `TypesTooLarge` where its types exceed the output.
 */
export function analyseProgram(
  program: string,
  catalogue: ToolCatalogue,
  maxOutputBytes = DEFAULT_OUTPUT_BYTES,
): AnalysisOutcome {
  const source = submittedText(program);
  const outcome = parseProgram(program);
  if (outcome.kind === "problem") return toSyntaxError(outcome.problem, source);
  return analyse(outcome.program, source, { catalogue, notes: new TypeNotes(maxOutputBytes) });
}

const DEFAULT_OUTPUT_BYTES = 1024 * 1024;

interface AnalysisParts {
  readonly catalogue: ToolCatalogue;
  readonly notes: TypeNotes;
}

function analyse(parsed: ParsedProgram, source: SourceText, { catalogue, notes }: AnalysisParts): AnalysisOutcome {
  const edits = new TextEdits();
  const scopes = new Scopes();
  const types = new TypeStripper(parsed.text, parsed.comments, edits);
  const hash = new ProgramHash();
  const refusals = new Refusals();
  const outer = new OuterRanges();
  const literals = new Literals(parsed.comments);
  traverse(parsed.root, [refusals, scopes, exitMarker, types, notes, hash, outer, literals]);
  refusals.checkBody(parsed.body);
  if (refusals.problem !== undefined) return toSyntaxError(refusals.problem, source);
  scopes.finish();
  types.finish();

  const { parameters, variables } = findFreeNames(scopes);
  const values = new ValueFlow(scopes, catalogue);
  values.run(parameters);
  markActive(values.sites.keys(), scopes);
  const builder = new StaticStructureBuilder({ scopes, source, sites: values.sites });
  const draft = builder.build(parsed.root);
  if (builder.problem !== undefined) return toSyntaxError(builder.problem, source);

  declareNames(parameters, variables, edits);
  instrument({ nodes: draft.nodes, scopes, source, outer, edits });
  const sites = [...values.sites.values()];
  const behaviour = findBehaviour(parsed.body, { scopes, sites: values.sites, implicitParameters: parameters });
  const schema = inferParameters({ values, scopes, notes });
  return {
    kind: "program",
    program: {
      structure: assembleStructure({ draft, scopes, values, source }),
      parameters: schema,
      implicitParameters: parameters,
      behaviour: behaviour && toBehaviourFacts(behaviour, Object.keys(schema["properties"] ?? {})),
      hash: hash.digest(),
      literals: literals.ranges,
      tools: namesOf(sites, "task"),
      capabilities: namesOf(sites, "capability"),
      hasDynamicCalls: sites.some(({ kind }) => kind === "dynamic"),
      instrumented: createInstrumented(edits.apply(parsed.text), source),
    },
  };
}

function namesOf(sites: readonly Site[], kind: Site["kind"]): string[] {
  const names = sites.flatMap((site) => (site.kind === kind && site.name !== undefined ? [site.name] : []));
  return [...new Set(names)].toSorted();
}

function toSyntaxError({ offset, message, hint }: ProgramProblem, source: SourceText): AnalysisOutcome {
  const position = source.position(offset);
  return {
    kind: "syntax_error",
    problem: { message, ...position, excerpt: source.line(position.line), ...(hint !== undefined && { hint }) },
  };
}

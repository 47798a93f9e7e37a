import { exitMarker, markActive } from "./activity.ts";
import { assembleStructure } from "./assemble-structure.ts";
import { findFreeNames } from "./free-names.ts";
import { inferParameters } from "./infer-parameters.ts";
import { declareNames, instrument, OuterRanges } from "./instrument.ts";
import { type ParsedProgram, parseProgram, WRAPPER_START } from "./parse-program.ts";
import type { ProgramProblem } from "./problem.ts";
import { ProgramHash } from "./program-hash.ts";
import { Refusals } from "./refusals.ts";
import { Scopes } from "./scopes.ts";
import { SourceText } from "./source-text.ts";
import { StaticStructureBuilder } from "./static-structure-builder.ts";
import { TypeStripper } from "./strip-types.ts";
import type { AnalysisOutcome, InstrumentedProgram, ToolCatalogue } from "./structure.ts";
import { traverse } from "./syntax-tree.ts";
import { TextEdits } from "./text-edits.ts";
import { TypeNotes } from "./type-notes.ts";
import { ValueFlow } from "./value-flow.ts";
import type { Site } from "./values.ts";

/** Analyses a program before it runs: its calls and branches, parameters and hash, and the JavaScript to run. */
export function analyseProgram(program: string, catalogue: ToolCatalogue): AnalysisOutcome {
  const source = new SourceText(program, WRAPPER_START.length);
  const outcome = parseProgram(program);
  if (outcome.kind === "problem") return toSyntaxError(outcome.problem, source);
  return analyse(outcome.program, source, catalogue);
}

function analyse(parsed: ParsedProgram, source: SourceText, catalogue: ToolCatalogue): AnalysisOutcome {
  const edits = new TextEdits();
  const scopes = new Scopes();
  const types = new TypeStripper(parsed.text, parsed.comments, edits);
  const notes = new TypeNotes();
  const hash = new ProgramHash();
  const refusals = new Refusals();
  const outer = new OuterRanges();
  traverse(parsed.root, [refusals, scopes, exitMarker, types, notes, hash, outer]);
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
  return {
    kind: "program",
    program: {
      structure: assembleStructure({ draft, scopes, values, source }),
      parameters: inferParameters({ values, scopes, notes }),
      implicitParameters: parameters,
      hash: hash.digest(),
      tools: namesOf(sites, "task"),
      capabilities: namesOf(sites, "capability"),
      hasDynamicCalls: sites.some(({ kind }) => kind === "dynamic"),
      instrumented: applyEdits(parsed.text, edits, source),
    },
  };
}

function namesOf(sites: readonly Site[], kind: Site["kind"]): string[] {
  const names = sites.flatMap((site) => (site.kind === kind && site.name !== undefined ? [site.name] : []));
  return [...new Set(names)].toSorted();
}

function applyEdits(text: string, edits: TextEdits, source: SourceText): InstrumentedProgram {
  const edited = edits.apply(text);
  let lines: SourceText | undefined;
  return {
    code: edited.text,
    originalPosition(line, column) {
      lines ??= new SourceText(edited.text);
      return source.position(edited.originalOffset(lines.offset({ line, column })));
    },
  };
}

function toSyntaxError({ offset, message, hint }: ProgramProblem, source: SourceText): AnalysisOutcome {
  const position = source.position(offset);
  return {
    kind: "syntax_error",
    problem: { message, ...position, excerpt: source.line(position.line), ...(hint !== undefined && { hint }) },
  };
}

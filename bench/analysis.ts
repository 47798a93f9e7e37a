import { stripTypeScriptTypes } from "node:module";
import { parseSync } from "oxc-parser";
import { analyseProgram } from "../src/analysis/analyse-program.ts";
import type { ToolCatalogue } from "../src/analysis/structure.ts";
import type { Benchmark } from "./support/benchmark.ts";
import { interleave } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 40;
const RUNS_PER_ROUND = 5;
const PARSE = "parse only";
const STRIP = "strip types only";
const ANALYSE = "analyseProgram";

const columns = [PARSE, STRIP, ANALYSE];
const nothingKnown: ToolCatalogue = { findTool: () => undefined };

/** Compares the whole analysis with the minimum that any way of running TypeScript has to do. */
export const analysis: Benchmark = {
  title: "analysis of a program before it runs",
  columns,
  async run(session) {
    for (const lines of [30, 300, 3000]) {
      const program = sampleProgram(lines);
      session.progress(`${lines} lines, ${ROUNDS} rounds of ${RUNS_PER_ROUND}`);
      const variants = columns.map((name) => ({ name, round: () => Promise.resolve(timeRuns(works[name], program)) }));
      const samples = await interleave(variants, { rounds: ROUNDS, warmUps: 10, signal: session.signal });
      for (const [column, rounds] of samples) {
        const times = rounds.flat();
        const goal = lines === 300 && column === ANALYSE ? { goal: { atMost: 5 } } : {};
        session.record({ row: `${lines} lines, p50`, unit: "ms", column, value: percentile(times, 0.5) });
        session.record({ row: `${lines} lines, p95`, unit: "ms", column, value: percentile(times, 0.95), ...goal });
      }
    }
  },
};

type AnalysisStep = (program: string) => unknown;

const works: Readonly<Record<string, AnalysisStep | undefined>> = {
  [PARSE]: (program) => parse(wrap(program)),
  [STRIP]: (program) => stripTypeScriptTypes(wrap(program)),
  [ANALYSE]: (program) => analyseProgram(program, nothingKnown),
};

/**
 * Takes the body out: the parser's answer keeps its tree until the next full collection, whose cost would count here.
 */
function parse(text: string): unknown {
  const { program } = parseSync("program.ts", text, { lang: "ts", sourceType: "module" });
  return program.body.splice(0);
}

function timeRuns(work: AnalysisStep | undefined, program: string): number[] {
  return Array.from({ length: RUNS_PER_ROUND }, () => {
    const started = performance.now();
    work?.(program);
    return performance.now() - started;
  });
}

function wrap(program: string): string {
  return `async (args) => {\n${program}\n}`;
}

/** Generates a typical agent program: a list, a parallel call per element, a decision, a message. */
function sampleProgram(lines: number): string {
  const steps: string[] = [];
  for (let step = 0; steps.join("").split("\n").length <= lines; step += 1) {
    steps.push(`// step ${step}
const files${step}: { path: string; size: number }[] = await mcp.fs.list({ path: args.dir, pattern: "*.ts" });
if (files${step}.length > ${step}) {
  const results = await Promise.all(files${step}.map(async (f) => {
    const { content } = await mcp.fs.read({ path: f.path });
    return { path: f.path, lines: content.split("\\n").length };
  }));
  for (const r of results) {
    if (r.lines > 100) await mcp.chat.post({ channel: "#big", text: \`\${r.path} has \${r.lines} lines\` });
    else console.log(r.path);
  }
} else {
  await mcp.chat.post({ channel: "#empty", text: "nothing in " + args.dir });
}
`);
  }
  return steps.join("");
}

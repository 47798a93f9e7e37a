import { toExact } from "../base/visible.ts";
import { PLACEHOLDERS } from "../secrets/secret-words.ts";
import type { Approval } from "./approval.ts";
import type { Binding, BoundCapability, BoundProgram, BoundTool } from "./binding.ts";
import type { ToolVerdict } from "./plan.ts";

export type Question = Pick<
  Approval,
  "id" | "binding" | "tools" | "client" | "capability" | "intent" | "createdAt" | "expiresAt"
>;

const LONGEST_NAME = 100;
/** Foreign text gets so many characters each; it informs, it is not what is approved. */
const LONGEST_FOREIGN = 1_000;

/**
 * The question as every channel shows it: facts of PML first, then words of others, each line marked, then everything
 * that would run, in full. Every line of foreign origin begins with a mark or a number, so none can pass for a fact.
 */
export function renderQuestion(question: Question): string {
  const { binding } = question;
  const sections = [
    describeKind(binding),
    renderFacts(question),
    ...(binding.args === undefined ? [] : [`Arguments\n${numberLines(binding.args.text)}`]),
    ...(binding.dynamicCalls.length === 0 ? [] : [renderDynamic(binding)]),
    renderForeign(question),
    `Program\n${numberLines(binding.program.text)}`,
    ...distinctPrograms(binding.nested).map(
      (each) => `Nested ${plainName(each.name)}, version ${each.version}, ${each.id}\n${numberLines(each.text)}`,
    ),
  ];
  return sections.join("\n\n");
}

function describeKind({ program, call }: Binding): string {
  if (call?.seq !== undefined) {
    return "A run was interrupted during one call, and whether it happened is not known. Allow: make it again. Refuse: the program goes on with an error.";
  }
  if (call !== undefined) return "A running program wants to make one call that was not foreseen.";
  return program.kind === "call" ? "An agent wants to make one call itself." : "A program wants to run.";
}

function renderFacts({ id, binding, tools, client, createdAt, expiresAt }: Question): string {
  const { scope, principal, program, nested, missing, args, call } = binding;
  const verdicts = new Map(tools.map((each) => [each.tool, each]));
  const facts: (readonly [string, string])[] = [
    ["id", id],
    ["principal", oneLine(principal)],
    ["scope", `${oneLine(scope.org)} / ${oneLine(scope.project)}`],
    ["client", client === undefined ? "not named" : `${quote(client.slice(0, LONGEST_NAME))}, a name it gives itself`],
    ["asked", createdAt.toISOString()],
    ["expires", expiresAt.toISOString()],
    ["program", `${program.kind}, ${countLines(program)}, sha256 ${program.hash}`],
    ...(args === undefined ? [] : [["arguments", `sha256 ${args.hash}`] as const]),
    ...(call === undefined ? [] : [["call", describeCall(call)] as const]),
    ...binding.tools.map((tool) => ["tool", describeTool(tool, verdicts.get(tool.id))] as const),
    ...nested.map((each) => ["nested", describeNested(each)] as const),
    ...missing.map((name) => ["missing", `${quote(name)} stands for nothing now`] as const),
    ...describeHidden(binding),
  ];
  return `Facts, from PML\n${facts.map(([name, value]) => `  ${name.padEnd(10)} ${value}`).join("\n")}`;
}

/** Counts placeholders. All of them are PML's own: texts of others have such marks written by number. */
function describeHidden({ program, nested, dynamicCalls, args }: Binding): (readonly [string, string])[] {
  const texts = [program, ...distinctPrograms(nested), ...dynamicCalls, ...(args === undefined ? [] : [args])];
  const count = texts.reduce((sum, { text }) => sum + [...text.matchAll(PLACEHOLDERS)].length, 0);
  return count === 0
    ? []
    : [["hidden", `${count} secret ${count === 1 ? "value" : "values"}, shown by length and digest`]];
}

function describeCall({ tool, runId, seq }: NonNullable<Binding["call"]>): string {
  return `${plainName(tool)}, ${seq === undefined ? "" : `number ${seq} `}in run ${runId}`;
}

function describeTool({ id, effect, schemaHash }: BoundTool, verdict: ToolVerdict | undefined): string {
  const why = verdict === undefined ? "" : ` ${DECISIONS[verdict.decision]}: ${oneLine(verdict.reason)};`;
  return `${plainName(id)} (${effect})${why} definition ${oneLine(schemaHash)}`;
}

const DECISIONS = { allow: "is allowed already", ask: "asks", deny: "is denied" } as const;

function describeNested({ caller, name, id, version, kind, hash }: BoundCapability): string {
  const by = caller === "" ? "" : `, called by ${caller}`;
  return `${quote(name)} is ${id}, version ${version}${by}, ${kind}, sha256 ${hash}`;
}

function renderDynamic({ dynamicCalls }: Binding): string {
  return `Calls whose tool is computed at run time\n${dynamicCalls.map(({ text }) => numberLines(text)).join("\n")}`;
}

function renderForeign({ intent, capability }: Question): string {
  const named = capability === undefined ? "" : `\n${quoteLines(`name: ${capability}`)}`;
  return `In the agent's words, unchecked\n${quoteLines(intent)}${named}`;
}

/** Marks every line; cuts at a limit and says so. */
function quoteLines(text: string): string {
  const cut = text.length > LONGEST_FOREIGN;
  const shown = cut ? text.slice(0, LONGEST_FOREIGN) : text;
  const lines = toExact(shown)
    .split("\n")
    .map((line) => `  > ${line}`);
  return [
    ...lines,
    ...(cut ? [`  (${text.length - LONGEST_FOREIGN} more characters of this are not shown)`] : []),
  ].join("\n");
}

function numberLines(shown: string): string {
  const lines = shown.split("\n");
  const width = String(lines.length).length;
  return lines.map((line, index) => `  ${String(index + 1).padStart(width)} | ${line}`).join("\n");
}

function countLines({ text }: BoundProgram): string {
  const count = text.split("\n").length;
  return count === 1 ? "1 line" : `${count} lines`;
}

/** A capability that several callers reach has one text. */
function distinctPrograms(nested: readonly BoundCapability[]): readonly BoundCapability[] {
  return [...new Map(nested.map((each) => [`${each.id} ${each.version} ${each.hash}`, each])).values()];
}

/** Quotes a name that has more than letters, so that it cannot go on as a fact. */
function plainName(name: string): string {
  return /^[\w:.@/-]+$/.test(name) ? name : quote(name);
}

function quote(text: string): string {
  return oneLine(JSON.stringify(text));
}

/** Facts stay on their line. */
function oneLine(text: string): string {
  return toExact(text).replaceAll("\n", "\u27E6U+000A\u27E7").replaceAll("\t", "\u27E6U+0009\u27E7");
}

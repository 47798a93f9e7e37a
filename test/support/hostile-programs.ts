/** Programs whose analysis would take memory or time out of proportion to their length. */
const aliases = Array.from({ length: 26 }, (_, at) => `type A${at + 1}={a:A${at},b:A${at}};`).join("");

function lines(line: (at: number) => string, count: number): string {
  return Array.from({ length: count }, (_, at) => line(at)).join("\n");
}

export interface HostileProgram {
  readonly what: string;
  readonly code: string;
  /** Part of the message that refuses it; without one it runs. */
  readonly refused?: string;
}

/** 979 bytes at most; written out, its type has 2 ** 27 members. */
export const NESTED_ALIASES = `type A0={a:string,b:string};${aliases}declare const args:A26;return args;`;

export const hostilePrograms: readonly HostileProgram[] = [
  { what: "nested type aliases", code: NESTED_ALIASES, refused: "analysis.maxOutputBytes" },
  {
    what: "a long literal that an alias repeats",
    code: `type L="${"x".repeat(50_000)}";type M=${"L|".repeat(2)}L;declare const args:{\n${lines((at) => `a${at}:M`, 4_000)}};return 1`,
    refused: "analysis.maxOutputBytes",
  },
  {
    what: "a recursive type",
    code: "type T={left:T,right:T,value:string};declare const args:{tree?:T};return args.tree?.value??1",
  },
  { what: "nested parentheses", code: `return ${"(".repeat(10_000)}1${")".repeat(10_000)}`, refused: "200 levels" },
  { what: "nested templates", code: `return ${"`${".repeat(5_000)}1${"}`".repeat(5_000)}`, refused: "200 levels" },
  { what: "a chain of operators", code: `return 1${"+1".repeat(100_000)}`, refused: "nested too deeply" },
  { what: "a line of 200 KB", code: `return [${"1,".repeat(100_000)}]`, refused: "line is too long" },
  {
    what: "functions in functions",
    code: `return ${"()=>".repeat(50_000)}1`,
    refused: "nested too deeply",
  },
  {
    what: "thousands of calls",
    code: lines(() => "mcp.fs.read_file({path:args.a});", 6_000),
    refused: "analysis.maxOutputBytes",
  },
  {
    what: "names longer than a screen",
    code: `const ${"a".repeat(200_000)} = 1; return 1`,
  },
  { what: "250 KB of comments", code: `${"// x\n".repeat(50_000)}return 1` },
  { what: "more than sandbox.maxCodeBytes", code: "1;".repeat(200_000), refused: "sandbox.maxCodeBytes" },
];

import type { InstrumentedProgram } from "../../src/analysis/structure.ts";

export type RunTool = (server: string, tool: string, args: unknown) => unknown;

interface ObservedCall {
  readonly node: string;
  readonly path: string;
  readonly tool: string;
}

export interface Observation {
  /** `returned …` or `threw …`. */
  readonly outcome: string;
  /** Tools and arguments, in call order. */
  readonly calls: readonly string[];
  readonly marked: readonly ObservedCall[];
  readonly decisions: readonly { readonly node: string; readonly outcome: string }[];
  readonly paths: readonly string[];
}

type Callee = ((args: unknown) => unknown) | undefined;

/** Runs a program as the sandbox does, as far as an analysis can observe it. */
export async function runInstrumented(
  { code }: InstrumentedProgram,
  args: unknown,
  fake: RunTool,
): Promise<Observation> {
  const calls: string[] = [];
  const marked: ObservedCall[] = [];
  const decisions: { node: string; outcome: string }[] = [];
  const counts = new Map<string, number>();
  const mcp = fakeServers(fake, calls);
  const decided = (node: string, outcome: unknown): void => void decisions.push({ node, outcome: String(outcome) });
  const pml = {
    call: (node: string, path: string, callee: Callee) =>
      callee &&
      ((given: unknown) => {
        const answer = callee(given);
        marked.push({ node, path, tool: calls.at(-1)?.split(" ")[0] ?? "" });
        return answer;
      }),
    decide: (node: string, _: string, test: unknown) => (decided(node, Boolean(test)), test),
    nullish: (node: string, _: string, left: unknown) => (decided(node, left === undefined || left === null), left),
    took: (node: string, _: string, outcome: string) => decided(node, outcome),
    loop(id: string, path: string) {
      const key = `${path === "" ? "" : `${path}/`}${id}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return `${key}:${count}`;
    },
  };
  const program = evaluate(code, mcp) as (args: unknown, pml: unknown) => Promise<unknown>;
  const outcome = await settle(() => program(args, pml));
  return { outcome, calls, marked, decisions, paths: [...counts.keys()] };
}

/** Runs an expression that is an async function of `args`, without instrumentation. */
export async function runPlain(
  code: string,
  args: unknown,
  fake: RunTool,
): Promise<Pick<Observation, "outcome" | "calls">> {
  const calls: string[] = [];
  const program = evaluate(code, fakeServers(fake, calls)) as (args: unknown) => Promise<unknown>;
  return { outcome: await settle(() => program(args)), calls };
}

function evaluate(code: string, mcp: unknown): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval -- running programs is what this is for
  return new Function("mcp", "capabilities", `return (${code}\n)`)(mcp, mcp);
}

function fakeServers(fake: RunTool, calls: string[]): unknown {
  const tools = (server: string): unknown =>
    new Proxy(
      {},
      {
        get: (_, tool) => (args: unknown) => {
          calls.push(`${server}:${String(tool)} ${JSON.stringify(args)}`);
          return fake(server, String(tool), args);
        },
      },
    );
  return new Proxy({}, { get: (_, server) => tools(String(server)) });
}

async function settle(run: () => Promise<unknown>): Promise<string> {
  try {
    return `returned ${JSON.stringify(await run())}`;
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

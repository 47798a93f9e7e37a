/**
 * Measures isolated-vm alone: an isolate in this process for each run, no second process, no limits. It is a separate
 * process only because Node needs a flag for it.
 */
import ivm from "isolated-vm";

const echo = new ivm.Reference((text: string) => Promise.resolve(text));

export interface BareRequest {
  /** Statements of a program that calls `tool(args)`. */
  readonly body: string;
  readonly count: number;
}

async function runOnce(body: string): Promise<void> {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  const context = isolate.createContextSync();
  context.global.setSync("echo", echo);
  const code = `const tool = async (args) => JSON.parse(await echo.apply(undefined, [JSON.stringify(args)], { result: { promise: true } }));
    (async () => { ${body} })()`;
  await context.eval(code, { promise: true, copy: true });
  isolate.dispose();
}

process.on("message", ({ body, count }: BareRequest) => {
  void (async () => {
    const durations: number[] = [];
    const before = process.cpuUsage();
    for (let done = 0; done < count; done += 1) {
      const started = performance.now();
      await runOnce(body);
      durations.push(performance.now() - started);
    }
    const { user, system } = process.cpuUsage(before);
    process.send?.({ durations, cpuMs: (user + system) / 1000 });
  })();
});

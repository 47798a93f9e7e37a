/**
 * UTCP code-mode and a bare isolate in their own process (isolated-vm needs a flag). Receives work over IPC and answers
 * with the milliseconds measured here, so that IPC does not count.
 */
import { openUtcp } from "./utcp.mjs";

const [prefix, command, ...args] = process.argv.slice(2);
const { run, from } = await openUtcp(prefix, command, args);
const ivm = from("isolated-vm");

/** The minimum: an isolate, a context, the code, and its result as JSON. */
async function runBare(code) {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = isolate.createContextSync();
    const script = isolate.compileScriptSync(`JSON.stringify((() => { ${code} })())`);
    return script.runSync(context, { timeout: 10_000 });
  } finally {
    isolate.dispose();
  }
}

async function time(kind, code) {
  const started = performance.now();
  if (kind === "bare") await runBare(code);
  else await run(code);
  return performance.now() - started;
}

async function work({ kind, code, count, together }) {
  const runs = Array.from({ length: count });
  if (together) return Promise.all(runs.map(() => time(kind, code)));
  const durations = [];
  for (const _run of runs) durations.push(await time(kind, code));
  return durations;
}

process.on("message", (message) => {
  const started = performance.now();
  work(message).then(
    (durations) => process.send({ id: message.id, durations, total: performance.now() - started }),
    (error) => process.send({ id: message.id, error: String(error) }),
  );
});
process.send({ ready: true });

import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { isRunning, until } from "../../../test/support/pml.ts";
import { type StdioServer, StdioProcess } from "./stdio-process.ts";

interface Watched {
  readonly process: StdioProcess;
  readonly messages: JSONRPCMessage[];
  readonly noise: string[];
  readonly groups: string[];
  readonly closed: Promise<void>;
}

function watch(server: Partial<StdioServer> & { readonly command: string }): Watched {
  const noise: string[] = [];
  const groups: string[] = [];
  const messages: JSONRPCMessage[] = [];
  const process = new StdioProcess(
    { args: [], env: {}, cwd: undefined, ...server },
    {
      onNoise: (line) => noise.push(line),
      maxMessageBytes: 1024 * 1024,
      groups: { add: (pid) => groups.push(`+${pid}`), remove: (pid) => groups.push(`-${pid}`) },
    },
  );
  const closed = Promise.withResolvers<void>();
  process.onmessage = (message) => messages.push(message);
  process.onclose = () => closed.resolve();
  onTestFinished(() => process.close());
  return { process, messages, noise, groups, closed: closed.promise };
}

/** A server that is a line of shell. */
function shell(line: string, env: Record<string, string> = {}): Watched {
  return watch({ command: "/bin/sh", args: ["-c", line], env });
}

/** One that is a line of JavaScript. */
function script(code: string): Watched {
  return watch({ command: process.execPath, args: ["-e", code] });
}

test("StdioProcess puts messages together that come byte by byte, and hands on what is none", async () => {
  const {
    process: server,
    messages,
    noise,
    closed,
  } = script(`
    const text = 'starting\\n{"jsonrpc":"2.0","method":"größe 😀\u2028"}\\n\\n[1]\\n{"jsonrpc":"2.0","id":1,"result":{}}\\nrest';
    for (const byte of Buffer.from(text)) require("fs").writeSync(1, Buffer.from([byte]));
  `);
  await server.start();
  await closed;
  expect(messages).toEqual([
    { jsonrpc: "2.0", method: "größe 😀\u2028" },
    { jsonrpc: "2.0", id: 1, result: {} },
  ]);
  expect(noise).toEqual(["starting", "[1]"]);
});

test("StdioProcess gives a server what is configured and a few safe variables, nothing else", async () => {
  vi.stubEnv("PML_TEST_SECRET", "hush");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { process: server, noise, closed } = shell("env", { GIVEN: "yes" });
  await server.start();
  await closed;
  const names = noise.map((line) => line.split("=")[0]);
  expect(noise).toContain("GIVEN=yes");
  expect(names).toContain("PATH");
  expect(names).not.toContain("PML_TEST_SECRET");
});

test.each([
  { how: "exit 3", exit: "it exited with code 3" },
  { how: "kill -9 $$", exit: "it was ended by SIGKILL" },
])("StdioProcess says how a server ended: $how", async ({ how, exit }) => {
  const { process: server, closed, groups } = shell(`echo first >&2; printf 'last words' >&2; ${how}`);
  await server.start();
  const { pid } = server;
  await closed;
  expect(server.exit).toBe(exit);
  expect(server.stderrTail).toEqual(["first", "last words"]);
  expect(groups).toEqual([`+${pid}`, `-${pid}`]);
  await expect(server.send({ jsonrpc: "2.0", method: "x" })).rejects.toThrow("has ended");
});

test("StdioProcess says why a program cannot be started", async () => {
  const { process: server, groups } = watch({ command: "/no/such/program" });
  await expect(server.start()).rejects.toThrow("ENOENT");
  expect(server.exit).toMatch(/"\/no\/such\/program" cannot be started \(.*ENOENT\); check its command and cwd/);
  await server.close();
  expect(groups).toEqual([]);
});

test("StdioProcess keeps the last lines of a server's stderr, each of bounded length", async () => {
  const { process: server, closed } = script(
    `for (let i = 1; i <= 100; i += 1) console.error("line " + i + "x".repeat(5000));`,
  );
  await server.start();
  await closed;
  expect(server.stderrTail).toHaveLength(50);
  expect(server.stderrTail[0]).toMatch(/^line 51x+$/);
  expect(Math.max(...server.stderrTail.map(({ length }) => length))).toBe(2_000);
});

test("StdioProcess.close lets a server end by itself, and ends one that does not", async () => {
  const polite = script(`process.stdin.resume().on("end", () => { console.log("bye"); process.exit(0); });`);
  const stubborn = shell(`trap '' TERM; echo ready; while :; do sleep 0.1; done`);
  await polite.process.start();
  await stubborn.process.start();
  await until("the stubborn one ignores the signal", () => stubborn.noise.length === 1);
  await Promise.all([polite.process.close(), stubborn.process.close()]);
  expect(polite.noise).toEqual(["bye"]);
  expect(stubborn.process.exit).toBe("it was stopped by PML");
  await until("the stubborn one is gone", () => !isRunning(stubborn.process.pid ?? 0));
});

test("StdioProcess: what a server started ends with it, and does not hide its end", async () => {
  const { process: server, noise, closed } = shell(`sleep 1000 & echo $!; sleep 0.3; exit 1`);
  await server.start();
  await until("it told its child's pid", () => noise.length === 1);
  const child = Number(noise[0]);
  expect(isRunning(child)).toBe(true);
  await closed;
  await until("the child is gone", () => !isRunning(child));
});

test("StdioProcess: one that left the group and holds the output does not hide the server's end", async () => {
  const { process: server, noise, closed } = shell(`setsid /bin/sh -c 'echo $$; exec sleep 1000' & sleep 0.3; exit 1`);
  await server.start();
  await closed;
  const escaped = Number(noise[0]);
  expect(isRunning(escaped)).toBe(true);
  process.kill(escaped, "SIGKILL");
});

test("StdioProcess turns an answer that is none into an error, and leaves out members that no answer has", async () => {
  const answers = [
    { id: 1, error: "no" },
    { id: "2", result: "yes" },
    { id: 3, error: { code: -32_011, message: "no", data: { why: "so" } }, took: 5 },
    { id: 4, result: { later: 1 }, took: 5 },
  ];
  const lines = answers.map((answer) => JSON.stringify({ jsonrpc: "2.0", ...answer })).join("\n");
  const { process: server, messages, closed } = script(`process.stdout.write(${JSON.stringify(`${lines}\n`)})`);
  await server.start();
  await closed;
  const error = { code: -32_603, message: "The server's answer has neither a result nor an error" };
  expect(messages).toEqual([
    { jsonrpc: "2.0", id: 1, error },
    { jsonrpc: "2.0", id: "2", error },
    { jsonrpc: "2.0", id: 3, error: { code: -32_011, message: "no", data: { why: "so" } } },
    { jsonrpc: "2.0", id: 4, result: { later: 1 } },
  ]);
});

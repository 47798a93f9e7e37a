/** Programs, results, names and logs on a terminal: it shows the commands in them and obeys none. */
import { expect, test } from "vitest";
import { withoutCommands } from "../../src/base/visible.ts";
import { execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callJson } from "../support/names-scene.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { runInTerminal } from "../support/pty.ts";

/** Sets the title, clears the screen, hides text, imitates a colour of PML, goes back, rings. */
const HOSTILE = "\u001B]0;pwned\u0007\u001B[2J\u001B[8mhidden\u001B[31mpwned\u009B2J\u0008\u202Epwned";
const OBEYED = ["\u001B]0;", "\u0007", "\u001B[2J", "\u001B[8m", "\u001B[31mpwned", "\u009B", "\u0008", "\u202E"];

test("no command of the command line passes commands of others on to the terminal", async () => {
  const loud = `process.stderr.write(${JSON.stringify(`${HOSTILE}\n`)}); process.exit(1)`;
  await using home = await startGateway({ loud: { command: process.execPath, args: ["-e", loud] } });
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const source = (word: string): string =>
    `// ${HOSTILE} ${word}\nconsole.log(args.text); return "${word}" + args.text`;
  const args = { text: HOSTILE };
  const made = await execute(client, { code: source("one"), args, name: "util:shown", intent: `Shows ${HOSTILE}` });
  expect(made.status).toBe("success");
  const changed = await callJson(client, "dns:update", { name: "util:shown", code: source("two") });
  expect(changed.isError).toBe(false);
  await until("the server has failed", async () => (await home.server("loud")).state !== "connecting");
  const [run = ""] = (await runJson<{ id: string }[]>(["runs"], { home: home.path })).map(({ id }) => id);

  const commands = ["code util:shown", "diff util:shown", `run-show ${run}`, "logs loud", "servers", "tools"];
  const more = ["runs", "show util:shown", "history util:shown", "list", "doctor", "logs", "graph util:shown"];
  const showing: string[] = [];
  for (const command of [...commands, ...more]) {
    const { screen } = await runInTerminal(command.split(" "), { home: home.path });
    expect(screen.length).toBeGreaterThan(0);
    for (const each of OBEYED) expect([command, screen.includes(each)]).toEqual([command, false]);
    if (screen.includes(String.raw`\u{1b}]0;pwned\u{7}`)) showing.push(command);
  }
  expect(showing).toEqual(expect.arrayContaining(["code util:shown", "diff util:shown", "logs loud"]));

  // --json, and what goes to a file, are exact
  const { code } = await runJson<{ code: string }>(["code", "util:shown"], { home: home.path });
  expect(code).toBe(source("two"));
  expect((await runPml(["code", "util:shown"], { home: home.path })).stdout).toBe(`${source("two")}\n`);
}, 120_000);

test("letters that languages and emoji need stay as they are", () => {
  const text = "می\u200Cخواهم 👩\u200D🚀 naïve\u00A0café\r\n\tnext";
  expect(withoutCommands(text)).toBe(text);
  expect(withoutCommands("a\rb\u0085")).toBe(String.raw`a\u{d}b\u{85}`);
});

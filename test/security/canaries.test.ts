/** Secrets in every input, looked for in every output, table, log, export, metric and backup. */
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { createCanaries, findCanaries, searchFiles, searchTables } from "../support/canaries.ts";
import { createServerDatabase, engines } from "../support/databases.ts";
import { approve, reachAsPerson } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { logIn } from "../support/login.ts";
import { type LoginServer, startLoginServer } from "../support/login-server.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, runJson, runPml, until } from "../support/pml.ts";
import { startProtectedServer } from "../support/protected-server.ts";
import { type RemoteServer, startRemoteServer } from "../support/remote-server.ts";

/** Ids of a run that waits for an answer, one that waits for a person, and one that a person refused. */
interface UnfinishedRuns {
  readonly running: string;
  readonly parked: string;
  readonly refused: string;
}

describe.each(engines)("M8: secrets on %s", (engine) => {
  const canaries = createCanaries();
  const stack = new AsyncDisposableStack();
  let home: GatewayHome;
  let url: string | undefined;
  const key = randomBytes(32).toString("base64");
  let authority: LoginServer;
  let calls = "";
  let go = "";
  let preparing: Promise<UnfinishedRuns> | undefined;
  const daemonEnv = (): Record<string, string> => ({
    CANARY_KEY: canaries.serverReference,
    ...(url === undefined ? {} : { DATABASE_URL: url, PML_SECRET_KEY: key }),
  });
  const options = (): { home: string; env: Record<string, string> } => ({ home: home.path, env: daemonEnv() });
  /** All that must be found nowhere: what was planted, tokens of logins, the gateway's own keys. */
  const everySecret = (): Record<string, string> => ({
    ...canaries,
    key,
    ...Object.fromEntries(authority.secrets.map((secret, index) => [`login${index}`, secret])),
    gatewayToken: readFileSync(join(home.path, "token"), "utf8").trim(),
    decisionKey: readFileSync(join(home.path, "decision-key"), "utf8").trim(),
  });

  function leaky(): McpServerEntry {
    const script = join(import.meta.dirname, "..", "support", "leaky-server.ts");
    return {
      command: process.execPath,
      args: [script, `--file=${calls}`, `--go=${go}`, `--api-key=${canaries.serverArgument}`],
      env: {
        LEAKY_TOKEN: canaries.serverEnvironment,
        LEAKY_SETTING: canaries.serverSetting,
        LEAKY_REFERENCE: "${CANARY_KEY}",
      },
    };
  }

  beforeAll(async () => {
    const work = stack.use(await makeFolder());
    [calls, go] = [join(work.path, "calls.txt"), join(work.path, "go")];
    writeFileSync(calls, "");
    if (engine === "postgres") url = await createOwnedDatabase(canaries.databasePassword);
    authority = stack.use(await startLoginServer());
    const protectedServer = stack.use(await startProtectedServer(authority));
    const remote = stack.use(await startEcho());
    const basic = Buffer.from(`me:${canaries.basicPassword}`).toString("base64");
    home = stack.use(
      await startGateway(
        {
          leaky: leaky(),
          docs: { url: protectedServer.url },
          headed: {
            url: `${remote.url}?api_key=${canaries.urlParameter}`,
            headers: { "X-Service-Token": canaries.serverHeader, "X-Basic-Auth": `Basic ${basic}` },
          },
          userinfo: { url: `http://me:${canaries.urlPassword}@127.0.0.1:1/mcp` },
        },
        {
          env: daemonEnv(),
          config: {
            gateway: { exposure: "full" },
            log: { level: "debug" },
            results: { maxBytes: 4_096 },
            permissions: { allow: ["leaky:*", "docs:*", "headed:*"], ask: ["leaky:write"] },
          },
        },
      ),
    );
    await home.ready("leaky", "headed");
    await until("it wants a login", async () => (await home.server("docs")).state === "login_needed");
    await logIn("docs", options());
    await home.ready("docs");
  });
  afterAll(() => stack.disposeAsync());

  async function runPrograms(client: Client): Promise<void> {
    const named = { password: canaries.argumentByName, deep: [{ apiKey: canaries.nestedArgument }] };
    const done = await execute(client, {
      // The first one is the code of the login, which is spent.
      intent: `use ${canaries.intent} ${authority.secrets.slice(1).join(" ")} for the test`,
      description: `made with ${canaries.description}`,
      tags: [canaries.tag],
      name: "canary:all",
      change_summary: `with ${canaries.summary}`,
      args: { ...named, pin: canaries.argumentBySchema, answer: { word: canaries.nestedBySchema } },
      code: `
        console.log("the password is " + args.password);
        console.log(args.password.slice(0, 9)); console.log(args.password.slice(9));
        const { text } = { text: await mcp.leaky.echo({ password: args.password, deep: args.deep, ["k" + args.password]: 1 }) };
        await mcp.leaky.log_in({ pin: args.pin, answer: args.answer });
        console.log("pin " + args.pin + " word " + args.answer.word);
        const told = await mcp.leaky.environment({});
        const failed = await mcp.leaky.fail({}).catch((error) => String(error));
        const header = await mcp.headed.tell({});
        return { text, told, failed, header, [args.password]: encodeURIComponent("?" + args.pin) };`,
    });
    expect(done.status).toBe("success");
    const literal = await execute(client, {
      code: `/* ${canaries.comment} */ const key = "${canaries.literal}"; await mcp.leaky.echo({ key }); if (key === "${canaries.literal}") return key.length; return 0;`,
    });
    expect(literal).toMatchObject({ status: "success", result: canaries.literal.length });
    // Only whole literals are hidden, so that a secret within the code itself could be neither stored nor shown.
    const inCode = await execute(client, { code: `const ${canaries.serverSetting} = 1; return 1` });
    expect(inCode).toMatchObject({ isError: true, error: { code: "arguments_invalid" } });
    const dag = {
      tasks: [{ id: "t1", tool: "leaky:echo", arguments: { token: canaries.dagArgument, text: canaries.dagArgument } }],
    };
    expect(await execute(client, { dag, name: "canary:dag" })).toMatchObject({ status: "success" });
    await execute(client, { code: `throw new Error("boom " + args.token)`, args: { token: canaries.argumentByName } });
  }

  /** Secrets went everywhere, and three runs are unfinished. */
  const prepared = (): Promise<UnfinishedRuns> => (preparing ??= prepare());

  async function prepare(): Promise<UnfinishedRuns> {
    await using agent = await connectClient(home.path, { env: daemonEnv() });
    const { client } = agent;
    await runPrograms(client);
    // An agent gets what it asked for; what is kept of it is another matter.
    const direct = await call(client, "leaky__echo", { apiKey: canaries.directArgument, pad: "x".repeat(9_000) });
    expect(direct.text).toContain(canaries.directArgument);
    expect((await call(client, "leaky__environment")).text).toContain(canaries.serverEnvironment);
    await call(client, "leaky__fail", {});
    await call(client, "docs__read");
    return { ...(await askTwice(client)), running: await startSlowRun() };
  }

  /** Leaves one question open and refuses the other. */
  async function askTwice(client: Client): Promise<Omit<UnfinishedRuns, "running">> {
    const asked = await execute(client, {
      code: `await mcp.leaky.write({ token: args.token, key: "${canaries.parkedLiteral}" }); return args.token.length`,
      args: { token: canaries.parkedArgument },
    });
    expect(asked.status).toBe("approval_required");
    const other = await execute(client, {
      code: `return mcp.leaky.write({ secret: args.secret })`,
      args: { secret: canaries.approvedArgument },
    });
    const inbox = await runJson<{ id: string }[]>(["inbox"], options());
    const body = { decision: "refuse", via: "dashboard", reason: `no ${canaries.reason}` } as const;
    const params = { id: other.approval?.id ?? "" };
    await callDaemon(await reachAsPerson(home.path), routes.decideApproval, { params, body });
    expect(inbox.length).toBe(2);
    return { parked: asked.workflowId, refused: other.workflowId };
  }

  async function startSlowRun(): Promise<string> {
    const code = `await mcp.leaky.echo({ cookie: args.cookie }); await mcp.leaky.environment({}); const x = await mcp.leaky.slow({ cookie: args.cookie }); return "after " + args.cookie.length`;
    // Its client stays until the gateway is killed: a client that leaves cancels its runs.
    const name = `agent ${canaries.serverSetting}`;
    const patient = await connectClient(home.path, { env: daemonEnv(), transport: "http", name });
    stack.defer(() => patient.client.close().catch(() => undefined));
    void execute(patient.client, { code, args: { cookie: canaries.runningArgument } }).catch(() => undefined);
    await until("the run waits in a call", () => readFileSync(calls, "utf8").includes("slow"));
    let running: string | undefined;
    await until("the run is listed", async () => {
      const runs = await runJson<{ id: string; state: string }[]>(["runs"], options());
      running = runs.find(({ state }) => state === "running")?.id;
      return running !== undefined;
    });
    return running ?? "";
  }

  test(
    "programs, lists and calls leave no secret behind, in no table, file or answer to others",
    { timeout: 120_000 },
    async () => {
      expect(await collectAnswers(await prepared())).toEqual([]);
    },
  );

  /** Everything that people and other agents can read. */
  async function collectAnswers({ running }: UnfinishedRuns): Promise<string[]> {
    const secrets = everySecret();
    const found: string[] = [];
    const look = (place: string, text: string): void => void found.push(...findCanaries(secrets, place, text));
    const runs = await runJson<{ id: string }[]>(["runs"], options());
    const commands = [
      ...["status", "doctor", "inbox", "logs", "curate", "backup"].map((name) => [name]),
      ...["show", "history"].map((name) => [name, "canary:all"]),
      ["run-show", running],
      ["discover", "use the canary"],
      ["export", "-o", join(home.path, "memory.pml")],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await runPml(command, options());
      look(`pml ${command.join(" ")}`, stdout + stderr);
    }
    await using second = await connectClient(home.path, { name: "second", env: daemonEnv() });
    const { client } = second;
    const lists = await Promise.all([
      client.listTools(),
      client.listResources(),
      client.listResourceTemplates(),
      client.listPrompts(),
    ]);
    look("lists of a second client", JSON.stringify([lists, client.getInstructions(), client.getServerVersion()]));
    for (const [name, input] of [
      ["pml_discover", { intent: "use the canary for the test" }],
      ["pml_discover", { intent: "read environment" }],
      ["pml_list_capabilities", {}],
      ["pml_execute", { intent: "use for the test" }],
      ["pml_execute", { continue_workflow: { workflow_id: runs.at(-1)?.id } }],
    ] as const)
      look(`${name} of a second client`, JSON.stringify(await client.callTool({ name, arguments: input })));
    const address = readDaemonAddress(home.path);
    const headers = { authorization: `Bearer ${address?.token}` };
    for (const path of [
      ...["runs", "servers", "tools", "names", "inbox", "rules", "status", "index", "curation", "reviews"].map(
        (name) => `/api/v1/${name}`,
      ),
      ...runs.map(({ id }) => `/api/v1/runs/${id}`),
      "/api/v1/capability?name=canary:all",
      "/registry/capabilities",
      "/metrics",
    ])
      look(path, await (await fetch(new URL(path, address?.url), { headers })).text());
    return found;
  }

  test(
    "a killed gateway leaves no secret of unfinished runs, and resumes them with their secrets",
    { timeout: 120_000 },
    async () => {
      const { running, parked, refused } = await prepared();
      const { pid } = await runJson<{ pid: number }>(["status"], options());
      process.kill(pid, "SIGKILL");
      await until("the gateway is gone", () => !isRunning(pid));
      expect(searchFiles(home.path, everySecret())).toEqual([]);
      expect(await searchTables(home.path, url, everySecret())).toEqual([]);
      writeFileSync(go, "");
      const before = readFileSync(calls, "utf8").length;
      await runJson(["up"], options());
      // Nobody knows whether the call was made that the kill cut off, so that a person is asked.
      const shown = (): Promise<{ state: string }> => runJson(["run-show", running], options());
      // On PostgreSQL it belongs to the dead gateway until its lease of 15 seconds ends.
      await until("the interrupted run asks", async () => (await shown()).state === "parked", 45_000);
      await using agent = await connectClient(home.path, { env: daemonEnv() });
      for (const [id, result] of [
        [running, `after ${canaries.runningArgument.length}`],
        [parked, canaries.parkedArgument.length],
      ] as const) {
        const inbox = await runJson<{ id: string; runId: string }[]>(["inbox"], options());
        expect(findCanaries(everySecret(), "inbox", JSON.stringify(inbox))).toEqual([]);
        await approve(home.path, inbox.find(({ runId }) => runId === id)?.id);
        const done = await execute(agent.client, { continue_workflow: { workflow_id: id } });
        expect(done).toMatchObject({ status: "success", result });
      }
      await execute(agent.client, { continue_workflow: { workflow_id: refused } });
      expect(readFileSync(calls, "utf8").slice(before)).toContain(canaries.runningArgument);
      const written = readFileSync(calls, "utf8")
        .split("\n")
        .find((line) => line.startsWith("write"));
      expect(written).toContain(canaries.parkedArgument);
      expect(written).toContain(canaries.parkedLiteral);
      await runPml(["down"], options());
      expect(searchFiles(home.path, everySecret())).toEqual([]);
      const left = await searchTables(home.path, url, { ...everySecret(), sealed: '"sealed"' });
      // Only logins stay sealed.
      expect(left).toEqual(["sealed in table public.upstream_credential"]);
    },
  );
});

/** A database whose user has the password. */
async function createOwnedDatabase(password: string): Promise<string> {
  const url = await createServerDatabase();
  const user = `canary_${randomUUID().replaceAll("-", "")}`;
  await using admin = await openPostgres({ url, poolSize: 1 });
  await admin.execute(`CREATE ROLE ${user} LOGIN SUPERUSER PASSWORD '${password}'`);
  return Object.assign(new URL(url), { username: user, password }).href;
}

/** Tells the headers it got. */
async function startEcho(): Promise<RemoteServer> {
  let seen = "";
  return startRemoteServer({
    era: "current",
    create: () => {
      const mcp = new McpServer({ name: "headed", version: "1.0.0" });
      mcp.registerTool("tell", { description: `Tells ${seen}` }, () => ({ content: [{ type: "text", text: seen }] }));
      return mcp;
    },
    intercept: async ({ headers, url }) => {
      seen = JSON.stringify([headers["x-service-token"], headers["x-basic-auth"], url]);
      return false;
    },
  });
}

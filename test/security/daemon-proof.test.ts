/** A process that listens where a daemon was: it learns neither the token nor a key of a person or a shim. */
import { copyFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon, openStdio } from "../../src/daemon/daemon-client.ts";
import { type PersonAddress, readPersonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/folder.ts";
import { connectClient } from "../support/mcp-client.ts";
import { isRunning, runJson, runPml, until } from "../support/pml.ts";

interface Listener extends AsyncDisposable {
  /** Everything that was sent to it. */
  readonly received: () => string;
}

type Answer = (socket: Socket, chunk: Buffer) => void;

async function listenAt(url: string, answer: Answer): Promise<Listener> {
  const chunks: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      answer(socket, chunk);
    });
  });
  // a killed process keeps its port for a moment
  await until("the port is free", async () => {
    server.listen(Number(new URL(url).port), "127.0.0.1");
    return once(server, "listening").then(
      () => true,
      () => false,
    );
  });
  return {
    received: () => Buffer.concat(chunks).toString("latin1"),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const IMITATIONS: Readonly<Record<string, Answer>> = {
  "answers like a daemon": (socket) => socket.write(respond(`{"ok":true,"data":{}}`)),
  "sends the nonce back": (socket, chunk) =>
    socket.write(respond(/nonce=([\w-]+)/.exec(chunk.toString("latin1"))?.[1] ?? "")),
  "answers like a daemon of an earlier version": (socket) =>
    socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"),
  "accepts every upgrade": (socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: pml-stdio\r\n\r\n"),
};

/** Starts a daemon, kills it, and returns the address that its file still names. */
async function killDaemon(home: string): Promise<PersonAddress> {
  await runJson(["up"], { home });
  const address = readPersonAddress(home);
  if (address === undefined) throw new Error("no daemon runs");
  process.kill(address.pid, "SIGKILL");
  await until("the daemon is dead", () => !isRunning(address.pid));
  return address;
}

function expectNoKeys(received: string, { token, decisionKey, shimSecret = "" }: PersonAddress): void {
  expect(received).toMatch(/^GET /); // it was asked to prove itself
  for (const key of [token, decisionKey, shimSecret]) {
    expect(key.length).toBeGreaterThan(40);
    expect(received).not.toContain(key);
  }
}

test.each(Object.entries(IMITATIONS))(
  "a process on the port of a dead daemon that %s gets no key",
  async (_name, answer) => {
    await using home = await makeFolder();
    const address = await killDaemon(home.path);
    await using listener = await listenAt(address.url, answer);
    const { code, stderr } = await runPml(["servers", "--no-start"], { home: home.path });
    expect(code).toBe(EXIT.unreachable);
    expect(stderr).toContain(`The process at ${address.url} does not prove that it is the daemon (pid ${address.pid})`);
    expect(stderr).toContain("pml up");
    // a command that found the daemon while it lived
    const body = { decision: "approve", via: "cli" } as const;
    await expect(callDaemon(address, routes.decideApproval, { params: { id: "x" }, body })).rejects.toMatchObject({
      code: "daemon_unproven",
    });
    await expect(openStdio(address, address.shimSecret)).rejects.toMatchObject({ code: "daemon_unproven" });
    expectNoKeys(listener.received(), address);
    // the next client gets a daemon elsewhere, and works
    try {
      await using connected = await connectClient(home.path);
      expect((await connected.client.listTools()).tools.length).toBeGreaterThan(0);
      expect(readPersonAddress(home.path)?.url).not.toBe(address.url);
      expectNoKeys(listener.received(), address);
    } finally {
      await runPml(["down"], { home: home.path });
    }
  },
  60_000,
);

test("a process on the port of a dead daemon that passes everything on to the next daemon gets no key", async () => {
  await using home = await makeFolder();
  const address = await killDaemon(home.path);
  const [file, stale] = ["daemon.json", "stale.json"].map((name) => join(home.path, name)) as [string, string];
  copyFileSync(file, stale);
  const { url, pid } = await runJson<{ url: string; pid: number }>(["up"], { home: home.path });
  const links = new Map<Socket, Socket>();
  await using listener = await listenAt(address.url, (socket, chunk) => {
    const link = links.get(socket) ?? connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
    if (!links.has(socket)) link.pipe(socket);
    links.set(socket, link);
    link.write(chunk);
  });
  const keys = readPersonAddress(home.path);
  copyFileSync(stale, file);
  let stderr = "";
  // a probe gives up early on a machine that is busy
  await until("the command meets the listener", async () => {
    ({ stderr } = await runPml(["servers", "--no-start"], { home: home.path }));
    return !stderr.includes("No PML daemon runs");
  });
  expect(stderr).toContain("does not prove that it is the daemon");
  expectNoKeys(listener.received(), keys ?? address);
  for (const link of links.values()) link.destroy();
  process.kill(pid, "SIGTERM");
  await until("the daemon has ended", () => !isRunning(pid));
}, 60_000);

test("a daemon that cannot prove itself and holds the folder is named with the command that ends it", async () => {
  await using home = await makeFolder();
  const { pid } = await runJson<{ pid: number }>(["up"], { home: home.path });
  // a daemon of an earlier version: nobody has a secret that it knows
  await using other = await makeFolder();
  await runJson(["up"], { home: other.path });
  await runPml(["down"], { home: other.path });
  copyFileSync(join(other.path, "shim-secret"), join(home.path, "shim-secret"));
  try {
    for (const command of ["down", "up", "servers"]) {
      const { code, stderr } = await runPml([command], { home: home.path });
      expect([command, code]).toEqual([command, EXIT.unreachable]);
      expect(stderr).toContain(`kill ${pid}`);
    }
  } finally {
    process.kill(pid, "SIGTERM");
    await until("the daemon has ended", () => !isRunning(pid));
  }
}, 60_000);

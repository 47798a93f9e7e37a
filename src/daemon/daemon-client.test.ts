import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { version } from "../base/package-info.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { routes } from "../contract/routes.ts";
import { callDaemon, probe } from "./daemon-client.ts";
import type { DaemonAddress } from "./daemon-file.ts";
import { proveDaemon } from "./daemon-proof.ts";

interface FakeDaemon extends AsyncDisposable {
  readonly address: (version: string) => DaemonAddress;
}

const shimSecret = "s".repeat(43);

/** Proves itself, and answers every other request with this status and body. */
async function startFake(status: number, body: unknown, secret = shimSecret): Promise<FakeDaemon> {
  const server = createServer(({ url: target = "" }, response) => {
    const nonce = new URL(target, url).searchParams.get("nonce");
    if (nonce === null) response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    else response.setHeader("Content-Length", 43).end(proveDaemon(secret, { pid: 1, version, url }, nonce));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    address: (of) => ({ pid: 1, version: of, url, token: "t", shimSecret }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const notServed = { ok: false, error: toErrorReport(new PmlError("usage", "Nothing is served at GET /api/v1/status")) };

test("a daemon without the route runs, and calls say that it is of another version", async () => {
  await using daemon = await startFake(404, notServed);
  const address = daemon.address("0.0.1");
  expect(await probe(address)).toBe("daemon");
  const error = await callDaemon(address, routes.listServers).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "daemon_version",
    message: expect.stringContaining(`This command is PML ${version} and needs GET /api/v1/servers`),
    hint: "Restart the daemon: pml down && pml up",
    details: { command: version, daemon: "0.0.1" },
  });
});

test("a process with another secret, for another process or address, or to a client without the secret, proves nothing", async () => {
  await using other = await startFake(200, {}, "o".repeat(43));
  expect(await probe(other.address(version))).toBe("stranger");
  await using daemon = await startFake(200, {});
  const address = daemon.address(version);
  expect(await probe({ ...address, pid: 2 })).toBe("stranger");
  expect(await probe({ ...address, url: address.url.replace("127.0.0.1", "localhost") })).toBe("stranger");
  expect(await probe({ ...address, shimSecret: undefined })).toBe("stranger");
});

test("nothing on the port is neither the daemon nor a stranger", async () => {
  const { address } = await startAndClose();
  expect(await probe(address)).toBe("none");
  await expect(callDaemon(address, routes.listServers)).rejects.toMatchObject({ code: "daemon_unreachable" });
});

async function startAndClose(): Promise<{ address: DaemonAddress }> {
  await using daemon = await startFake(200, {});
  return { address: daemon.address(version) };
}

test("an answer of the same version is trusted, one of another version is checked", async () => {
  await using daemon = await startFake(200, { ok: true, data: { done: "soon" } });
  const request = { query: { id: "x" } };
  expect(await callDaemon(daemon.address(version), routes.awaitLogin, request)).toEqual({ done: "soon" });
  await expect(callDaemon(daemon.address("9.0.0"), routes.awaitLogin, request)).rejects.toMatchObject({
    code: "daemon_version",
  });
  await using newer = await startFake(200, { ok: true, data: { done: true, since: "added later" } });
  expect(await callDaemon(newer.address("9.0.0"), routes.awaitLogin, request)).toEqual({
    done: true,
    since: "added later",
  });
});

test("a reported failure is thrown as it was reported", async () => {
  const error = toErrorReport(new PmlError("run_not_found", "No run has the id x", { hint: "pml runs" }));
  await using daemon = await startFake(409, { ok: false, error });
  await expect(callDaemon(daemon.address(version), routes.getRun, { params: { id: "x" } })).rejects.toMatchObject({
    code: "run_not_found",
    hint: "pml runs",
  });
});

import { request as httpRequest } from "node:http";
import type { Readable } from "node:stream";
import type { Duplex } from "node:stream";
import { type ErrorReport, fromErrorReport, PmlError } from "../base/errors.ts";
import { STDIO_PATH, STDIO_UPGRADE } from "../mcp/transport/stdio-bridge.ts";
import type { DaemonAddress } from "./daemon-file.ts";

const PROBE_LIMIT_MS = 2_000;

/** Whether this very daemon answers: another program on its port would not know the token. */
export async function isAlive(address: DaemonAddress): Promise<boolean> {
  try {
    const response = await fetch(new URL("/api/status", address.url), {
      headers: authorization(address),
      signal: AbortSignal.timeout(PROBE_LIMIT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // refused, reset or too slow: not a daemon one could use
  }
}

/** Calls an operation of the daemon and returns its data, or throws the error it reported. */
export async function callDaemon<T>(
  address: DaemonAddress,
  method: "GET" | "POST",
  path: string,
  body?: Record<string, unknown>,
): Promise<T> {
  const response = await send(address, { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return readAnswer<T>(response);
}

/** The same for what only a person may do, who shows it with the decision key. */
export async function callAsPerson<T>(address: DaemonAddress, key: string, path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json", "X-PML-Decision-Key": key };
  return readAnswer<T>(await send(address, { method: "POST", path, headers, body: JSON.stringify(body) }));
}

export async function uploadToDaemon<T>(address: DaemonAddress, path: string, body: Readable): Promise<T> {
  const response = await send(address, { method: "POST", path, body });
  return readAnswer<T>(response);
}

export async function downloadFromDaemon(address: DaemonAddress, path: string): Promise<AsyncIterable<Uint8Array>> {
  const response = await send(address, { method: "GET", path });
  const { ok, body } = response;
  return ok && body !== null ? body : readAnswer<never>(response);
}

interface Sending {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
}

async function send(address: DaemonAddress, { method, path, headers, body }: Sending): Promise<Response> {
  try {
    return await fetch(new URL(path, address.url), {
      method,
      headers: { ...headers, ...authorization(address) },
      ...(body === undefined ? {} : { body, duplex: "half" }),
    });
  } catch (cause) {
    throw new PmlError("daemon_unreachable", `The daemon at ${address.url} (pid ${address.pid}) does not answer`, {
      hint: "See what is there: pml status. Start it again: pml up",
      cause,
    });
  }
}

type Answer = { ok: true; data: unknown } | { ok: false; error: ErrorReport };

async function readAnswer<T>(response: Response): Promise<T> {
  const answer = (await response.json()) as Answer;
  if (!answer.ok) throw fromErrorReport(answer.error);
  return answer.data as T;
}

/** A raw connection that carries MCP as stdin and stdout would. */
export function openStdio(address: DaemonAddress): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(STDIO_PATH, address.url), {
      headers: { ...authorization(address), Connection: "Upgrade", Upgrade: STDIO_UPGRADE },
      timeout: PROBE_LIMIT_MS,
    });
    request.once("upgrade", (_response, socket, head) => {
      socket.setNoDelay(true);
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once("response", (response) => {
      response.resume();
      reject(new Error(`the daemon refused the connection: ${response.statusCode}`));
    });
    request.once("timeout", () => request.destroy(new Error("the daemon does not answer")));
    request.once("error", reject);
    request.end();
  });
}

function authorization({ token }: DaemonAddress): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

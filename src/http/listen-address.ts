import { PmlError } from "../base/errors.ts";

export const LOOPBACK_NAMES: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** Whether only this machine can reach an address. A name other than localhost may mean anything. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(host);
}

const EVERY_ADDRESS = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** How this machine reaches itself on an address that it listens on. */
export function localUrl(host: string, port: number): string {
  return `http://${inUrl(EVERY_ADDRESS.get(host) ?? host)}:${port}`;
}

/** The address as it stands in a Host header, where it is one that can be asked for. */
export function hostNames(host: string): string[] {
  return EVERY_ADDRESS.has(host) ? [] : [inUrl(host.toLowerCase())];
}

function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The local token is made for one machine: where others can knock, each must come with a token of its own. */
export function assertMayListen(host: string, hasAuth: boolean): void {
  if (hasAuth || isLoopback(host)) return;
  throw new PmlError(
    "listen_refused",
    `Other machines can reach ${host}, and there is no "auth" in the configuration`,
    {
      hint: "Listen on 127.0.0.1, or configure auth: docs/guides/remote-use.md",
      details: { host },
    },
  );
}

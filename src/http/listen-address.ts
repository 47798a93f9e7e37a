import { PmlError } from "../base/errors.ts";

export const LOOPBACK_NAMES: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** Checks that only this machine can reach an address. A name other than localhost may resolve to anything. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(host);
}

const EVERY_ADDRESS = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** Formats the URL by which this machine reaches an address that it listens on. */
export function localUrl(host: string, port: number): string {
  return `http://${inUrl(EVERY_ADDRESS.get(host) ?? host)}:${port}`;
}

/** Lists the host names of an address, as a Host header spells them; none for a wildcard address. */
export function hostNames(host: string): string[] {
  return EVERY_ADDRESS.has(host) ? [] : [inUrl(host.toLowerCase())];
}

function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Refuses to listen for other machines without `auth`: the local token is made for one machine. */
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

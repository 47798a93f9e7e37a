import { createHmac } from "node:crypto";
import type { DaemonInfo } from "./daemon-file.ts";

/**
 * Computes the proof of a daemon for a client's nonce. The secret is new with each daemon and no client of the gateway has it;
 * process and address are in it, so that nobody can pass the nonce on to a daemon elsewhere.
 */
export function proveDaemon(shimSecret: string, { pid, url }: DaemonInfo, nonce: string): string {
  return createHmac("sha256", shimSecret).update(`pml-daemon\n${nonce}\n${pid}\n${url}`).digest("base64url");
}

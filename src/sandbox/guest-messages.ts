import type { CallSite, GuestCall } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";

/** One validated action of a guest: each part was checked for its type. */
export type GuestEvent =
  | { readonly kind: "call"; readonly call: GuestCall }
  | { readonly kind: "decided"; readonly site: CallSite; readonly outcome: string }
  | { readonly kind: "logged"; readonly level: string; readonly text: string };

/** Limit for names, paths and outcomes; the guest sends shorter ones. */
const MAX_NAME = 4_000;
const LEVELS: ReadonlySet<unknown> = new Set(["log", "info", "warn", "error", "debug"]);

/** Parses a line from a guest; throws if it is malformed. */
export function parseGuestMessage(line: string): GuestEvent {
  const message: unknown = JSON.parse(line);
  const event = Array.isArray(message) ? readMessage(message) : undefined;
  if (event === undefined) throw new Error("a malformed message");
  return event;
}

function readMessage([kind, ...rest]: unknown[]): GuestEvent | undefined {
  if (kind === "decided") return readDecision(rest);
  if (kind === "logged") return readLogged(rest);
  const call = readCall(kind, rest);
  return call === undefined ? undefined : { kind: "call", call };
}

function readDecision([node, loop, outcome]: unknown[]): GuestEvent | undefined {
  const site = readSite(node, loop);
  if (site?.node === undefined || !isName(outcome)) return undefined;
  return { kind: "decided", site, outcome };
}

function readLogged([level, text]: unknown[]): GuestEvent | undefined {
  if (!LEVELS.has(level) || typeof text !== "string") return undefined;
  return { kind: "logged", level: String(level), text };
}

function readCall(kind: unknown, [id, node, loop, ...what]: unknown[]): GuestCall | undefined {
  const site = readSite(node, loop);
  if (typeof id !== "number" || !Number.isSafeInteger(id) || site === undefined) return undefined;
  if (kind !== "sleep") return readTargetedCall(kind, { ...site, id }, what);
  const [ms] = what;
  return isDuration(ms) ? { ...site, id, args: null, kind, ms } : undefined;
}

function readTargetedCall(
  kind: unknown,
  common: CallSite & { readonly id: number },
  [group, name, value]: unknown[],
): GuestCall | undefined {
  if (!isName(name) || value === undefined) return undefined;
  const args = value as JsonValue; // it comes from JSON.parse
  if (kind === "tool" && isName(group)) return { ...common, args, kind, server: group, tool: name };
  if (kind !== "capability" || (group !== null && !isName(group))) return undefined;
  // No capability has two colons in its name, so a colon in either part cannot address another capability.
  return { ...common, args, kind, name: group === null ? name : `${group}:${name}` };
}

function readSite(node: unknown, loop: unknown): CallSite | undefined {
  if ((node !== null && !isName(node)) || !isName(loop)) return undefined;
  return { node: node ?? undefined, loop };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME;
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < 2 ** 31;
}

const MAX_DEPTH = 500;
/** A shorter text cannot hold that many brackets. */
const MIN_DEEP_TEXT = 2 * MAX_DEPTH;

/** True for a value nested so deep that walking or serialising it could overflow the stack of this process. */
export function isTooDeep(text: string, value: unknown): boolean {
  return text.length > MIN_DEEP_TEXT && reaches(value, MAX_DEPTH);
}

function reaches(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((item) => reaches(item, left - 1));
}

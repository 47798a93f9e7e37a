import type { CallSite, GuestCall } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";

/** One thing a guest did. Nothing in it has been believed: each part was checked for its kind. */
export type GuestEvent =
  | { readonly kind: "call"; readonly call: GuestCall }
  | { readonly kind: "decided"; readonly site: CallSite; readonly outcome: string }
  | { readonly kind: "logged"; readonly level: string; readonly text: string };

/** Of names, paths and outcomes; the guest keeps them shorter. */
const LONGEST_NAME = 4_000;
const LEVELS: ReadonlySet<unknown> = new Set(["log", "info", "warn", "error", "debug"]);

/** Reads a line of a guest; throws when it is none. */
export function parseGuestMessage(line: string): GuestEvent {
  const message: unknown = JSON.parse(line);
  const event = Array.isArray(message) ? readMessage(message) : undefined;
  if (event === undefined) throw new Error("a message that makes no sense");
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
  if (kind !== "sleep") return readReach(kind, { ...site, id }, what);
  const [ms] = what;
  return isDuration(ms) ? { ...site, id, args: null, kind, ms } : undefined;
}

function readReach(
  kind: unknown,
  common: CallSite & { readonly id: number },
  [group, name, value]: unknown[],
): GuestCall | undefined {
  if (!isName(name) || value === undefined) return undefined;
  const args = value as JsonValue; // it comes from JSON.parse
  if (kind === "tool" && isName(group)) return { ...common, args, kind, server: group, tool: name };
  if (kind !== "capability" || (group !== null && !isName(group))) return undefined;
  // No capability has two colons in its name, so that a colon in one of the two makes no other capability of it.
  return { ...common, args, kind, name: group === null ? name : `${group}:${name}` };
}

function readSite(node: unknown, loop: unknown): CallSite | undefined {
  if ((node !== null && !isName(node)) || !isName(loop)) return undefined;
  return { node: node ?? undefined, loop };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST_NAME;
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < 2 ** 31;
}

const DEEPEST = 500;
/** Shorter texts have no room for more brackets than that. */
const SHORTEST_DEEP_TEXT = 2 * DEEPEST;

/** Whether a value is nested so deep that walking or writing it could overflow the stack of this process. */
export function isTooDeep(text: string, value: unknown): boolean {
  return text.length > SHORTEST_DEEP_TEXT && reaches(value, DEEPEST);
}

function reaches(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((item) => reaches(item, left - 1));
}

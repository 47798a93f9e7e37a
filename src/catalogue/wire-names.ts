import { CAPABILITY_PREFIX, formatToolId } from "./tool-id.ts";
import { createHash } from "node:crypto";

/** A tool of a server as the gateway names it; its canonical name is `server:tool`. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
  /** The server asked for its tools to be listed under their own names, without a prefix. */
  readonly transparent: boolean;
}

type NameResolution =
  | { readonly kind: "found"; readonly canonical: string }
  | { readonly kind: "ambiguous"; readonly candidates: readonly string[] }
  | { readonly kind: "unknown" };

export interface NameTable {
  /** The listed name: legal in every client, distinct, and the same after a restart. */
  wireName(canonical: string): string;
  /** Accepts the canonical name, the wire name, and other spellings of either. */
  resolve(name: string): NameResolution;
}

/**
 * One table for all spellings. A wire name depends on its server's tools only, never on which other
 * servers are connected, unless a server gave up its prefix. `own` are the names that PML itself uses,
 * which nobody else gets.
 */
export function createNameTable(tools: readonly NamedTool[], own: readonly string[] = []): NameTable {
  const wireNames = new Map(own.map((name) => [name, ownWireName(name)]));
  const taken = new Set([...wireNames.values()].map(fold));
  for (const group of Map.groupBy(tools, ({ server }) => server).values()) {
    for (const [canonical, wire] of nameServerTools(group, taken)) wireNames.set(canonical, wire);
  }
  takeBackSharedNames(wireNames, tools);
  const canonicalByWire = new Map([...wireNames].map(([canonical, wire]) => [wire, canonical]));
  const all = [...wireNames];
  const byFoldedWire = Map.groupBy(all, ([, wire]) => fold(wire));
  const byFoldedCanonical = Map.groupBy(all, ([canonical]) => fold(canonical));
  return {
    wireName(canonical) {
      const wire = wireNames.get(canonical);
      if (wire === undefined) throw new Error(`${canonical} is not in the name table`);
      return wire;
    },
    resolve(name) {
      if (wireNames.has(name)) return { kind: "found", canonical: name };
      const exact = canonicalByWire.get(name);
      if (exact !== undefined) return { kind: "found", canonical: exact };
      const alike = byFoldedWire.get(fold(name)) ?? byFoldedCanonical.get(fold(name)) ?? [];
      const candidates = alike.map(([canonical]) => canonical);
      const [only, ...others] = candidates;
      if (only === undefined) return { kind: "unknown" };
      return others.length === 0 ? { kind: "found", canonical: only } : { kind: "ambiguous", candidates };
    },
  };
}

/** Tools whose plain form is the same (`a.b`, `a-b`) get a hash each, but for one that has that very name. */
function nameServerTools(tools: readonly NamedTool[], taken: ReadonlySet<string>): [string, string][] {
  const byPlainName = Map.groupBy(tools, (tool) => fold(plainName(tool)));
  return tools.map((tool) => {
    const canonical = formatToolId(tool.server, tool.tool);
    if (tool.transparent) return [canonical, tool.tool];
    const plain = plainName(tool);
    const rivals = byPlainName.get(fold(plain)) ?? [];
    const [owner, ...further] = rivals.length === 1 ? rivals : rivals.filter(isPlain);
    const isFree = owner === tool && further.length === 0 && !taken.has(fold(plain));
    const keepsPlain = isFree && plain.length <= LONGEST_WIRE_NAME;
    return [canonical, keepsPlain ? plain : withHash(plain, canonical)];
  });
}

/** Two servers without prefix may offer the same name: then both get their prefixed ones. */
function takeBackSharedNames(wireNames: Map<string, string>, tools: readonly NamedTool[]): void {
  const sharing = Map.groupBy(wireNames, ([, wire]) => fold(wire));
  const shared = new Set(
    [...sharing.values()].filter(({ length }) => length > 1).flatMap((group) => group.map(([canonical]) => canonical)),
  );
  for (const tool of tools) {
    const canonical = formatToolId(tool.server, tool.tool);
    if (tool.transparent && shared.has(canonical)) wireNames.set(canonical, withHash(plainName(tool), canonical));
  }
}

/** Why a tool is listed under a name that is not just its own with other punctuation; undefined when it is. */
export function explainName(tool: Pick<NamedTool, "server" | "tool">, listed: string): string | undefined {
  const plain = plainName(tool);
  if (listed === plain || listed === tool.tool) return undefined;
  if (plain.length > LONGEST_WIRE_NAME) return `it is longer than ${LONGEST_WIRE_NAME} characters`;
  return "another tool has the same name but for punctuation";
}

/** Names of PML are plain by their grammar, but for the colon. */
function ownWireName(name: string): string {
  return name.replaceAll(":", "__");
}

/** `cap:fs:read_json` as `cap__fs__read_json`: reversible by the grammar of names, but for very long ones. */
export function capabilityWireName(canonical: string): string {
  const plain = ownWireName(canonical);
  return plain.length <= LONGEST_WIRE_NAME ? plain : withHash(plain, canonical);
}

/** Reverses `capabilityWireName`. A name that was cut yields the letters it still has in `cut`. */
export function readCapabilityName(name: string): { readonly canonical: string; readonly cut: string | undefined } {
  const at = name.indexOf("@");
  const wire = at < 0 ? name : name.slice(0, at);
  const canonical = wire.startsWith("cap__") ? wire.replaceAll("__", ":") : wire;
  const isCut = wire.startsWith("cap__") && wire.length > LONGEST_WIRE_NAME - 2 && HASH_SUFFIX.test(wire);
  return {
    canonical: `${canonical}${at < 0 ? "" : name.slice(at)}`,
    cut: isCut ? canonical.replace(HASH_SUFFIX, "").slice(CAPABILITY_PREFIX.length) : undefined,
  };
}

function plainName({ server, tool }: Pick<NamedTool, "server" | "tool">): string {
  return `${serverSegment(server)}__${portableSegment(tool)}`;
}

/** Servers whose plain form is another server's name (`a--b`, `1st`) get a hash whether or not that one is there. */
function serverSegment(server: string): string {
  const plain = portableSegment(server);
  return plain === server.replace(/[ .-]/g, "_") ? plain : `${plain}_${shortHash(server)}`;
}

function isPlain({ tool }: NamedTool): boolean {
  return portableSegment(tool) === tool;
}

/** Letters, digits and single underscores, not beginning with a digit: legal in every client. */
function portableSegment(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return plain === "" || /^\d/.test(plain) ? `n${plain}` : plain;
}

/** Room for the prefixes that clients put in front, below the 60 to 64 characters they allow. */
const LONGEST_WIRE_NAME = 50;
const HASH_LENGTH = 7;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const HASH_SUFFIX = /_[a-z2-7]{7}$/;

function withHash(name: string, canonical: string): string {
  return `${name.slice(0, LONGEST_WIRE_NAME - HASH_LENGTH - 1).replace(/_+$/, "")}_${shortHash(canonical)}`;
}

function shortHash(text: string): string {
  const digest = createHash("sha256").update(text).digest();
  return Array.from(digest.subarray(0, HASH_LENGTH), (byte) => BASE32.charAt(byte % BASE32.length)).join("");
}

/** Folds case and punctuation, which clients change in names they are given. */
export function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
}

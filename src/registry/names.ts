import { parseCallName } from "../catalogue/tool-id.ts";
import { PmlError } from "../base/errors.ts";
import { isUnnamed, type NameParts, parseFqdn, parseShortFqdn } from "./fqdn.ts";
import { parseSpecifier, type Specifier } from "./specifier.ts";
import type { Scope } from "./scope.ts";

/** Configured rules for names. */
export interface NamePolicy {
  /** Only `namespace:action` with a standard namespace. */
  readonly strict: boolean;
  /** Days for which the name of a deleted record stays reserved. */
  readonly reserveDays: number;
}

export interface CheckedName {
  readonly name: NameParts;
  readonly warnings: readonly string[];
}

export const STANDARD_NAMESPACES: readonly string[] = ["fs", "api", "db", "transform", "git", "shell", "ai", "util"];
const NAME = /^(?:([a-z][a-z0-9]*):)?([a-zA-Z][a-zA-Z0-9_-]*)$/;
export const LONGEST_NAME = 50;

export interface ParsedName {
  readonly namespace: string | undefined;
  readonly action: string;
}

/** Returns undefined if the text is not a legal name. */
export function parseName(text: string): ParsedName | undefined {
  const [, namespace, action] = NAME.exec(text) ?? [];
  const legal = action !== undefined && !action.includes("__") && text.length <= LONGEST_NAME && !isUnnamed(text);
  return legal ? { namespace, action } : undefined;
}

/** Validates a requested name and fills in the default namespace; throws if it is illegal. */
export function checkName(text: string, defaultNamespace: string, { strict }: NamePolicy): CheckedName {
  const parsed = parseName(text);
  if (parsed === undefined) throw invalidName(text);
  const { namespace, action } = parsed;
  const name = { displayName: text, namespace: namespace ?? defaultNamespace, action };
  if (namespace === undefined) {
    if (strict) throw invalidName(text);
    return { name, warnings: [] };
  }
  if (STANDARD_NAMESPACES.includes(namespace)) return { name, warnings: [] };
  const warning = `Unknown namespace "${namespace}" in "${text}". Standard namespaces: ${STANDARD_NAMESPACES.join(", ")}`;
  if (strict) throw new PmlError("capability_name_invalid", warning, { hint: "naming.strict is set." });
  return { name, warnings: [warning] };
}

/** Appends a number, as in `fs:read_json_2`, and shortens the name to the maximum length. */
export function withSuffix(name: string, number: number): string {
  const suffix = `_${number}`;
  return `${name.slice(0, LONGEST_NAME - suffix.length).replace(/_+$/, "")}${suffix}`;
}

/** A parsed reference, before any lookup. */
export type Reference = { readonly specifier: Specifier } & (
  | { readonly kind: "name"; readonly name: string; readonly scope: Scope | undefined }
  | { readonly kind: "fqdn"; readonly fqdn: string; readonly scope: Scope }
  | { readonly kind: "id"; readonly id: string }
);

const CROSS_PROJECT = /^([^.:@]+)\.([^.:@]+):(.+)$/;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Parses a name, FQDN or id, with optional `cap:` prefix and `@version`. */
export function parseReference(text: string): Reference {
  const plain = parseCallName(text);
  const at = plain.indexOf("@");
  const subject = at < 0 ? plain : plain.slice(0, at);
  const specifier = at < 0 ? { kind: "latest" as const } : parseSpecifier(plain.slice(at + 1));
  if (ID.test(subject)) return { kind: "id", id: subject.toLowerCase(), specifier };
  const [, org, project, name] = CROSS_PROJECT.exec(subject) ?? [];
  if (org !== undefined && project !== undefined && name !== undefined)
    return { kind: "name", name, scope: { org, project }, specifier };
  const fqdn = parseFqdn(subject);
  if (fqdn !== undefined) return { kind: "fqdn", fqdn: subject, scope: fqdn, specifier };
  const short = parseShortFqdn(subject);
  if (short === undefined) return { kind: "name", name: subject, scope: undefined, specifier };
  return { kind: "name", name: `${short.namespace}:${short.action}`, scope: short, specifier };
}

/** The name in a reference, without prefix and version. */
export function nameIn(text: string): string {
  const plain = parseCallName(text);
  const at = plain.indexOf("@");
  return at < 0 ? plain : plain.slice(0, at);
}

function invalidName(text: string): PmlError {
  return new PmlError("capability_name_invalid", "Invalid capability name format. Expected: namespace:action_target", {
    hint: `Invalid capability name: ${JSON.stringify(text)}. Must be alphanumeric with underscores, hyphens, and colons only, with at most ${LONGEST_NAME} characters and no "__", for example fs:read_json.`,
  });
}

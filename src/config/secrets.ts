import { looksGenerated } from "../secrets/secret-words.ts";
import type { McpServerEntry } from "./schema.ts";

/** A secret value in a server's entry. */
export interface EntrySecret {
  /** Position in the entry: `env.API_KEY`, `headers.Authorization`, `args[2]`, `url`. */
  readonly where: string;
  readonly value: string;
}

const SECRET_NAME =
  /password|passwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(?!or(?!iz))|credential|cookie/i;
/** Prefixes of the tokens of well-known services. */
const SECRET_VALUE = /^(?:sk-|gh[opsu]_|github_pat_|glpat-|xox[abps]-|AKIA|AIza|eyJ|ntn_|hf_|npm_)[\w.=-]{8,}/;
const URL_SECRET = /\/\/[^/@\s]*:([^/@\s]+)@|[?&][^=&]*(?:key|token|secret|password)[^=&]*=([^&#\s]+)/i;
const REFERENCE = /\$\{[^}]*\}/g;
/** The scheme before a credential, which is not secret. */
const SCHEME = /^(?:bearer|basic|token)\s+/i;

/** Finds literal secrets in an entry; references to variables are none. */
export function findSecrets({ env = {}, headers = {}, args = [], url }: McpServerEntry): EntrySecret[] {
  return [
    ...inPairs("env", env),
    ...inPairs("headers", headers),
    ...inArguments(args),
    ...inUrl(url ?? "").map((value) => ({ where: "url", value })),
  ];
}

/** Values of an entry that must not turn up anywhere else, whether written there or filled in from variables. */
export function secretValues(entry: McpServerEntry): string[] {
  const { env = {}, headers = {}, args = [], url = "" } = entry;
  const named = findSecrets(entry).map(({ value }) => value);
  const words = [...Object.values(env), ...Object.values(headers), ...args].map(literalPart).filter(looksGenerated);
  const passwords = [
    ...Object.values(headers).flatMap(basicPassword),
    ...[url, ...args].flatMap(inUrl).flatMap(decoded),
  ];
  return [...new Set([...named, ...words, ...passwords])];
}

/** The password in `Basic base64(user:password)`. */
function basicPassword(header: string): string[] {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(header.trim()) ?? [];
  const [, password] = /^[^:]*:(.+)$/s.exec(Buffer.from(encoded ?? "", "base64").toString("utf8")) ?? [];
  return password === undefined ? [] : [password];
}

/** A URL spells some characters of a password otherwise. */
function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}

function inPairs(field: string, pairs: Readonly<Record<string, string>>): EntrySecret[] {
  return Object.entries(pairs)
    .map(([name, text]) => ({ where: `${field}.${name}`, name, value: literalPart(text) }))
    .filter(({ name, value }) => value !== "" && (SECRET_NAME.test(name) || SECRET_VALUE.test(value)))
    .map(({ where, value }) => ({ where, value }));
}

function inArguments(args: readonly string[]): EntrySecret[] {
  return args.flatMap((word, index) => {
    const { flag, text } = splitArgument(word, args[index - 1] ?? "");
    const value = literalPart(text);
    const secret = value !== "" && (SECRET_NAME.test(flag) || SECRET_VALUE.test(value));
    return (secret ? [value] : inUrl(word)).map((found) => ({ where: `args[${index}]`, value: found }));
  });
}

/** Splits `--flag=text`, or pairs text with the flag before it. */
function splitArgument(word: string, before: string): { flag: string; text: string } {
  const [, flag, text] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
  if (flag !== undefined && text !== undefined) return { flag, text };
  const follows = /^--?[\w-]+$/.test(before) && !word.startsWith("-");
  return { flag: follows ? before : "", text: word };
}

function inUrl(text: string): string[] {
  const [, password, parameter] = URL_SECRET.exec(text) ?? [];
  const value = literalPart(password ?? parameter ?? "");
  return value === "" ? [] : [value];
}

function literalPart(text: string): string {
  return text
    .replace(REFERENCE, "")
    .trim()
    .replace(SCHEME, "")
    .replace(/^(?:bearer|basic|token)$/i, "");
}

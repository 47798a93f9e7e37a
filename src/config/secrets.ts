import { looksGenerated, looksOpaque, namesPlainValue, namesSecret } from "../secrets/secret-words.ts";
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
/** A password before `@`, a parameter of an address, or a part of a connection string. */
const TEXT_SECRETS = [
  /\/\/[^/@\s:]{0,256}:([^/@\s]+)@/g,
  /[?&][^=&]{0,64}(?:key|token|secret|password)[^=&]{0,64}=([^&#\s]+)/gi,
  /(?:^|;)\s{0,8}(?:password|pwd|accountkey|sharedaccesskey)\s{0,8}=\s{0,8}([^;]+)/gi,
];
const REFERENCE = /\$\{[^}]*\}/g;
/** The scheme before a credential, which is not secret. */
const SCHEME = /^(?:bearer|basic|token)\s+/i;

/** Finds literal secrets in an entry; references to variables are none. */
export function findSecrets({ env = {}, headers = {}, args = [], url }: McpServerEntry): EntrySecret[] {
  return [
    ...inPairs("env", env),
    ...inPairs("headers", headers),
    ...inArguments(args),
    ...inText(url ?? "").map((value) => ({ where: "url", value })),
  ];
}

/** Values of an entry that must not turn up anywhere else, whether written there or filled in from variables. */
export function secretValues(entry: McpServerEntry): string[] {
  const { env = {}, headers = {}, args = [], url = "" } = entry;
  const named = findSecrets(entry).map(({ value }) => value);
  const pairs = args.map((word, index) => splitArgument(word, args[index - 1] ?? ""));
  const words = [...Object.values(env), ...Object.values(headers), ...args, ...pairs.map(({ text }) => text)];
  // A server hands its environment on to others with arguments such as `-e NAME=value`.
  const variables = [...Object.entries(env), ...pairs.flatMap(({ name, text }) => (name === "" ? [] : [[name, text]]))];
  const opaque = variables.flatMap(([name = "", text = ""]) => (namesPlainValue(name) ? [] : [literalPart(text)]));
  const generated = [...words.map(literalPart).filter(looksGenerated), ...opaque.filter(looksOpaque)];
  const within = [url, ...args, ...Object.values(env)].flatMap(inText);
  const passwords = [...Object.values(headers).flatMap(basicPassword), ...within, ...within.flatMap(decoded)];
  return [...new Set([...named, ...generated, ...passwords])];
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
  return Object.entries(pairs).flatMap(([name, text]) =>
    inNamed(name, text).map((value) => ({ where: `${field}.${name}`, value })),
  );
}

function inArguments(args: readonly string[]): EntrySecret[] {
  return args.flatMap((word, index) => {
    const { flag, name, text } = splitArgument(word, args[index - 1] ?? "");
    const found = name === "" ? inNamed(flag, text) : inNamed(name, text);
    return found.map((value) => ({ where: `args[${index}]`, value }));
  });
}

/** The whole value if its name or its form says so, otherwise the secrets within. */
function inNamed(name: string, text: string): string[] {
  const value = literalPart(text);
  const isSecret = SECRET_NAME.test(name) || namesSecret(name) || SECRET_VALUE.test(value);
  return isSecret && value !== "" ? [value] : inText(text);
}

interface Argument {
  /** The option that the text belongs to; empty if there is none. */
  readonly flag: string;
  /** The name in `NAME=text` or `Name: text`; empty if there is none. */
  readonly name: string;
  readonly text: string;
}

/** Splits `--flag=text`, or pairs text with the flag before it; the text may be `NAME=text` or a header. */
function splitArgument(word: string, before: string): Argument {
  const [, joined, rest] = /^(--?[\w.-]+)=(.+)$/s.exec(word) ?? [];
  const follows = /^--?[\w.-]+$/.test(before) && !word.startsWith("-");
  const [flag, whole] = joined === undefined || rest === undefined ? [follows ? before : "", word] : [joined, rest];
  const [, name, text] = /^([A-Za-z_][\w.-]*)(?:=|:\s+)(.+)$/s.exec(whole) ?? [];
  return name === undefined || text === undefined ? { flag, name: "", text: whole } : { flag, name, text };
}

function inText(text: string): string[] {
  const found = TEXT_SECRETS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, value = ""]) => value));
  return found.map(literalPart).filter((value) => value !== "");
}

function literalPart(text: string): string {
  return text
    .replace(REFERENCE, "")
    .trim()
    .replace(SCHEME, "")
    .replace(/^(?:bearer|basic|token)$/i, "");
}

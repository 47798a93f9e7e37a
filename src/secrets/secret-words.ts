/** Words of a name: `AWSSecretKey`, `aws_secret_key` and `aws-secret-key` have the same. */
function splitName(name: string): string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return words.map((word) => word.toLowerCase());
}

/** A last word with one of these endings; `tokens` is an amount, as in `max_tokens`. */
const SECRET_WORD =
  /(?:passwords?|passwd|passphrase|passcode|secret|token|credentials?|cookies?|authorization|jwt|(?:api|access|secret|private)key|connectionstring)$/;
/** Words before `key` that make it a secret; a primary or a public key is none. */
const SECRET_KEYS = new Set(
  "api access account app auth client deploy encryption master private secret service shared signing ssh subscription webhook".split(
    " ",
  ),
);
/** Words after the one that counts: `tokenValue`, `password2`. */
const TRAILING = /^(?:\d+|value|raw|plain|plaintext|encoded|base|b)$/;

/** True for the name of a field whose value is a secret. */
export function namesSecret(key: string): boolean {
  const words = splitName(key);
  while (words.length > 1 && TRAILING.test(words.at(-1) ?? "")) words.pop();
  const [before = "", last = ""] = words.length > 1 ? words.slice(-2) : ["", words[0]];
  if (SECRET_WORD.test(last)) return true;
  if (last === "key") return SECRET_KEYS.has(before);
  return (last === "string" && before === "connection") || (last === "pwd" && before !== "");
}

/** Last words of names whose values are no secrets, whatever they look like. */
const PLAIN_WORD =
  /^(?:id|ids|uuid|name|names|host|hosts|hostname|domain|endpoint|port|path|paths|dir|dirs|directory|folder|file|files|home|root|region|zone|version|level|mode|env|environment|user|username|email|model|locale|lang|language|timezone|tz|options|opts|flags|args)$/;

/** True for the name of a variable with an address, a place or an identity. */
export function namesPlainValue(name: string): boolean {
  return PLAIN_WORD.test(splitName(name).at(-1) ?? "");
}

/**
 * Patterns of secrets in any text. Each starts where a word does and not within one: a long text of many parts would be
 * searched anew from each of them.
 */
const SECRET_TEXT = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}`,
    String.raw`\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_-]{10,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[A-Za-z0-9_-]{35}\b`,
    String.raw`(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
    String.raw`\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*`,
  ].join("|"),
  "g",
);
/** Matches the password in `scheme://user:password@host`. */
const URL_PASSWORD = /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/]{0,256}:)([^\s@/]{1,1024})(?=@)/gi;
/** A shorter text is no secret unless it is the whole of a field. */
export const SHORTEST_SECRET_TEXT = 7;

export function replacePatterns(text: string, replaceValue: (found: string) => string): string {
  if (text.length < SHORTEST_SECRET_TEXT) return text;
  return text
    .replace(SECRET_TEXT, (found) => replaceValue(found))
    .replace(URL_PASSWORD, (whole, before: string, password: string) =>
      isPlaceholder(password) ? whole : before + replaceValue(password),
    );
}

const SHORTEST_WORD = 8;
const LONGEST_WORD = 15;

/**
 * True if a value can be looked for in texts. Shorter ones, and words such as `production` or `localhost`, would be found
 * in text that has nothing to do with them; such a value is hidden only where it is the whole of a field.
 */
export function isSearchable(value: string): boolean {
  if (value.length < SHORTEST_WORD || value.trim() === "" || isPlaceholder(value)) return false;
  return value.length > LONGEST_WORD || !/^(?:[a-z]+|\d+)$/i.test(value);
}

/** True for a value that looks generated: nobody writes it by hand, and no path or name has its form. */
export function looksGenerated(value: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(value)) return /\d/.test(value) && /[a-f]/i.test(value);
  return /^[\w+=-]{20,}$/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d.*\d/.test(value);
}

const SHORTEST_VALUE = 12;
const LONGEST_VALUE = 8_192;
/** Words and short numbers with separators between them: `eu-central-1`, `Europe/Berlin`, `10.0.0.1:8080`. */
const ORDINARY = /^(?:[A-Za-z]+\d{0,3}|\d{1,8})(?:[-_.,:;/@](?:[A-Za-z]+\d{0,3}|\d{1,8}))*$/;

/**
 * True for a long value of a server's environment that is neither words nor a path, an address, options or a structure.
 * Nobody says what such a value is for, so it counts as a secret.
 */
export function looksOpaque(value: string): boolean {
  if (value.length < SHORTEST_VALUE || value.length > LONGEST_VALUE) return false;
  if (!/^[A-Za-z0-9]\S*$/.test(value) || /^[A-Za-z]:\\|:\/\//.test(value)) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !ORDINARY.test(value);
}

const PLACEHOLDER = /^‹secret, \d+ chars, #[0-9a-f]+›$/;

export function isPlaceholder(text: string): boolean {
  return text.startsWith("‹") && PLACEHOLDER.test(text);
}

/** Finds placeholders in a text. */
export const PLACEHOLDERS: RegExp = /‹secret, \d+ chars, #[0-9a-f]+›/g;

const SECRET_KEY =
  /^(?:.*[_-])?(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|private[_-]?key|authorization|cookie|credential|credentials)$/i;
const CAMEL_SECRET_KEY = /(?:Password|Secret|Token|ApiKey|PrivateKey|Authorization|Credentials?)$/;

/** True for the name of a field whose value is a secret. */
export function namesSecret(key: string): boolean {
  return SECRET_KEY.test(key) || CAMEL_SECRET_KEY.test(key);
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

const PLACEHOLDER = /^‹secret, \d+ chars, #[0-9a-f]+›$/;

export function isPlaceholder(text: string): boolean {
  return text.startsWith("‹") && PLACEHOLDER.test(text);
}

/** Finds placeholders in a text. */
export const PLACEHOLDERS: RegExp = /‹secret, \d+ chars, #[0-9a-f]+›/g;

/** True if a schema says that its values are secret. */
export function isSecretSchema(schema: Readonly<Record<string, unknown>>): boolean {
  return schema["format"] === "password" || schema["writeOnly"] === true || schema["x-secret"] === true;
}

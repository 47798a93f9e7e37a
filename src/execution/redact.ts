import type { JsonValue } from "../base/json.ts";

const REDACTED = "[redacted]";

const SECRET_KEY =
  /^(?:.*[_-])?(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|private[_-]?key|authorization|cookie|credential|credentials)$/i;
const CAMEL_SECRET_KEY = /(?:Password|Secret|Token|ApiKey|PrivateKey|Authorization|Credentials?)$/;

/** Patterns of secrets in any text. */
const SECRET_TEXT = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}`,
    String.raw`\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_-]{10,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[A-Za-z0-9_-]{35}\b`,
    String.raw`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
    String.raw`\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*`,
  ].join("|"),
  "g",
);
/** Matches the password in `scheme://user:password@host`. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/]+:)[^\s@/]+(?=@)/gi;

export function looksSecret(text: string): boolean {
  return redactText(text) !== text;
}

export function redactText(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED).replace(URL_PASSWORD, `$1${REDACTED}`);
}

/** Replaces secrets, recognised by key or pattern. Returns the same object if there are none. */
export function redact(value: JsonValue): JsonValue {
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => redact(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, redactField(key, item)] as const);
  const same = entries.every(([key, item]) => item === (value as Record<string, JsonValue>)[key]);
  return same ? value : Object.fromEntries(entries);
}

function redactField(key: string, value: JsonValue): JsonValue {
  const holdsSecret = SECRET_KEY.test(key) || CAMEL_SECRET_KEY.test(key);
  return holdsSecret && typeof value === "string" && value !== "" ? REDACTED : redact(value);
}

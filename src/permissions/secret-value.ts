import type { JsonSchema } from "../base/json.ts";

/**
 * Values that are a secret from their first to their last character. Nothing else may stand beside it: a command with a
 * key in it is shown, or it could be hidden behind one.
 */
const SECRET_VALUE = new RegExp(
  `^(?:${[
    String.raw`(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}`,
    String.raw`(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_-]{10,}`,
    String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}`,
    String.raw`AIza[A-Za-z0-9_-]{35}`,
    String.raw`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
    String.raw`Bearer [A-Za-z0-9._~+/-]{16,}=*`,
    String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\r\n]+-----END [A-Z ]{0,30}PRIVATE KEY-----\r?\n?`,
  ].join("|")})$`,
);

/** Whether a whole literal or argument is a secret by its form. */
export function isSecretValue(value: string): boolean {
  return SECRET_VALUE.test(value);
}

/** How a question hides secrets. */
export interface Hiding {
  /** `‹secret, 24 chars, #digest›`: equal for equal values, and of no use to guess the value. */
  readonly placeholderOf: (value: string) => string;
  /** Schema of the arguments, which may call some of them secret. */
  readonly schema?: JsonSchema | undefined;
}

import { namesSecret } from "../secrets/secret-words.ts";

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

const SECRET_START =
  /(?:sk|pk|rk|gh[pousr]|github_pat|glpat|xox[abpr])[-_]|AKIA|ASIA|AIza|eyJ|Bearer |-----BEGIN|\\[xu]/;

/** Whether a whole literal or argument is a secret that a question hides. */
export function isSecretValue(value: string, name = ""): boolean {
  return value !== "" && (SECRET_VALUE.test(value) || namesSecret(name));
}

/** A cheap test, which spares most programs from being parsed once more. */
export function mayHoldSecret(text: string): boolean {
  return SECRET_START.test(text);
}

/** How a question hides secrets. */
export interface Hiding {
  /** `‹secret, 24 chars, #digest›`: equal for equal values, and of no use to guess the value. */
  readonly placeholderOf: (value: string) => string;
  /** Whether a schema or a name somewhere said that this whole argument is secret. */
  readonly isDeclared?: (value: string) => boolean;
}

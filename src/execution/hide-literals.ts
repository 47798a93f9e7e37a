import type { AnalysedProgram } from "../analysis/structure.ts";
import { TextEdits } from "../analysis/text-edits.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { readStringLiteral } from "../base/string-literal.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { isSecretSchema } from "../secrets/secret-schema.ts";
import { namesSecret } from "../secrets/secret-words.ts";
import type { Secrets } from "../secrets/secrets.ts";

/** A program as it is stored and shown. */
export interface HiddenProgram<Source> {
  readonly source: Source;
  /** The hidden parts as they are written; empty if there are none. */
  readonly parts: readonly JsonValue[];
  /** Values of the hidden parts. */
  readonly values: readonly string[];
}

/** False for nearly all programs, which have nothing to hide. */
export function mayHide(code: string, secrets: Secrets): boolean {
  return secrets.hideText(code) !== code || /\\[xu]/.test(code);
}

/**
 * Hides the literals and comments of a program that hold a secret, each as a whole. Code itself is never hidden: what is
 * shown is what runs.
 */
export function hideLiterals(
  code: string,
  { literals, behaviour }: Pick<AnalysedProgram, "literals" | "behaviour">,
  secrets: Secrets,
): HiddenProgram<string> {
  const named = new Map(findNamedSecrets(behaviour));
  const edits = new TextEdits();
  const parts: string[] = [];
  const values: string[] = [];
  const listed = literals.map(([start, end]) => [start, end] as const);
  for (const [start, end] of new Map([...listed, ...named])) {
    const written = code.slice(start, end);
    const value = readStringLiteral(written);
    if (!named.has(start) && secrets.hideText(value) === value) continue;
    edits.replace(start, end, secrets.placeholderOf(written));
    parts.push(written);
    values.push(value);
  }
  const source = edits.apply(code).text;
  if (secrets.withoutKnown(source) !== source) throw secretInCode();
  return { source, parts, values };
}

/** The insides of literals that a tool gets in an argument that is named like a secret, or that its schema marks. */
export function findNamedSecrets(behaviour: AnalysedProgram["behaviour"]): [start: number, end: number][] {
  const secret = behaviour?.lifted.filter(
    ({ schema, value, uses }) =>
      typeof value === "string" &&
      value !== "" &&
      (isSecretSchema(schema) || uses.some(({ path }) => namesSecret(path.at(-1) ?? ""))),
  );
  return (
    secret?.flatMap(({ ranges }) => ranges.map(({ start, end }) => [start + 1, end - 1] as [number, number])) ?? []
  );
}

/** Hides secrets in the arguments of a plan's tasks. */
export function hideArguments<Source extends object>(plan: Source, secrets: Secrets): HiddenProgram<Source> {
  const own = new RunSecrets(secrets);
  own.learn(plan);
  const source = own.hide(plan);
  return { source, parts: source === plan ? [] : [plan as JsonValue & Source], values: [] };
}

/** Only literals are hidden, so such a program could neither be stored nor shown to a person. */
function secretInCode(): PmlError {
  return new PmlError("arguments_invalid", "The program has a secret of this gateway outside of a string", {
    hint: "Leave secrets to the servers' configuration, or pass them in args.",
  });
}

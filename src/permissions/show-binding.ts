import { canonical } from "../base/canonical.ts";
import { isObject, type JsonSchema } from "../base/json.ts";
import { readStringLiteral } from "../base/string-literal.ts";
import { toExact } from "../base/visible.ts";
import { expandSchema, hasSecretPart, isSecretSchema } from "../secrets/secret-schema.ts";
import { namesSecret } from "../secrets/secret-words.ts";
import type { Binding, BoundProgram, BoundText } from "./binding.ts";
import { type Hiding, isSecretValue } from "./secret-value.ts";

/**
 * Replaces every text by the form people see: all of it, invisible characters by number, and only whole secret
 * literals and arguments as `‹secret, 24 chars, #digest›`. An argument is hidden for what it is, or by its own name or
 * schema; never because its value stands below such a name elsewhere. Hashes stay those of the exact texts.
 */
export function showBinding(binding: Binding, hiding: Hiding): Binding {
  const { program, nested, dynamicCalls, args } = binding;
  return {
    ...binding,
    program: showProgram(program, hiding),
    nested: nested.map((each) => showProgram(each, hiding)),
    dynamicCalls: dynamicCalls.map((each) => ({ ...each, text: showExcerpt(each.text, program, hiding) })),
    ...(args === undefined ? {} : { args: { ...args, text: showArguments(args, hiding) } }),
  };
}

function showProgram<Program extends BoundProgram>(program: Program, hiding: Hiding): Program {
  const { literals: _ranges, ...shown } = program;
  const text = program.kind === "code" ? showCode(program, hiding) : showJson(program, hiding);
  return { ...shown, text } as Program;
}

interface SecretLiteral {
  /** With its quotes. */
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

const QUOTES = new Set(["'", '"', "`"]);

/** Whole strings and templates that are secrets; pieces of templates and comments are shown. */
function findSecretLiterals({ text, literals = [] }: BoundProgram): SecretLiteral[] {
  return literals.flatMap(([start, end, kind]) => {
    const quote = text[start - 1] ?? "";
    if (kind === "comment" || !QUOTES.has(quote) || text[end] !== quote) return [];
    const value = readStringLiteral(text.slice(start, end));
    return isSecretValue(value) ? [{ start: start - 1, end: end + 1, value }] : [];
  });
}

function showCode(program: BoundProgram, hiding: Hiding): string {
  const { text: code } = program;
  let shown = "";
  let end = 0;
  for (const literal of findSecretLiterals(program)) {
    shown += toExact(code.slice(end, literal.start)) + hiding.placeholderOf(literal.value);
    end = literal.end;
  }
  return shown + toExact(code.slice(end));
}

/** Shows a part of a program: its secret literals are those of the program. */
function showExcerpt(excerpt: string, program: BoundProgram, hiding: Hiding): string {
  const hidden = findSecretLiterals(program).map(({ start, end, value }) => [program.text.slice(start, end), value]);
  return hidden.reduce(
    (text, [written = "", value = ""]) => text.replaceAll(toExact(written), () => hiding.placeholderOf(value)),
    toExact(excerpt),
  );
}

function showJson({ text }: BoundText, hiding: Hiding): string {
  return formatJson(JSON.parse(text), { hiding, isSecret: false, schemas: [], indent: "" });
}

function showArguments({ text }: BoundText, hiding: Hiding): string {
  const { schema } = hiding;
  const schemas = schema !== undefined && hasSecretPart(schema) ? expandSchema(schema) : [];
  return formatJson(JSON.parse(text), { hiding, isSecret: schemas.some(isSecretSchema), schemas, indent: "" });
}

interface JsonPlace {
  readonly hiding: Hiding;
  /** Whether a name or a schema on the way here says so. */
  readonly isSecret: boolean;
  /** All schemas of this place. */
  readonly schemas: readonly JsonSchema[];
  readonly indent: string;
}

function formatJson(value: unknown, place: JsonPlace): string {
  const { hiding, isSecret, indent } = place;
  if (typeof value === "string" && value !== "" && (isSecret || isSecretValue(value)))
    return hiding.placeholderOf(value);
  if (typeof value === "number" && isSecret) return `${hiding.placeholderOf(String(value))}, a number`;
  if (typeof value !== "object" || value === null) return toExact(canonical(value));
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item: unknown) => formatJson(item, { ...enter(place, "items"), indent: inner }))
    : Object.entries(value).map(([key, item]) => {
        const below = enter(place, "properties", key);
        const shown = formatJson(item, { ...below, isSecret: below.isSecret || namesSecret(key), indent: inner });
        return `${toExact(JSON.stringify(key))}: ${shown}`;
      });
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item}`).join(",\n")}\n${indent}${close}`;
}

/** The place of an item or of a property, as far as schemas describe it. */
function enter(place: JsonPlace, member: "items" | "properties", key?: string): JsonPlace {
  if (place.schemas.length === 0) return place;
  const schemas = place.schemas.flatMap((schema) => {
    const part = schema[member];
    const own = key === undefined ? part : isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
    return isObject(own) ? expandSchema(own) : [];
  });
  return { ...place, schemas, isSecret: place.isSecret || schemas.some(isSecretSchema) };
}

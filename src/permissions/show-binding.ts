import { findTextLiterals } from "../analysis/text-literals.ts";
import { canonical } from "../base/canonical.ts";
import { toExact } from "../base/visible.ts";
import type { Binding, BoundProgram, BoundText } from "./binding.ts";
import { isSecretValue, mayHoldSecret, type Hiding } from "./secret-value.ts";

/**
 * Replaces every text by the form people see: all of it, invisible characters by number, and only whole secret
 * literals and arguments as `‹secret, 24 chars, #digest›`. Hashes stay those of the exact texts.
 */
export function showBinding(binding: Binding, hiding: Hiding): Binding {
  const { program, nested, dynamicCalls, args } = binding;
  return {
    ...binding,
    program: showProgram(program, hiding),
    nested: nested.map((each) => showProgram(each, hiding)),
    dynamicCalls: dynamicCalls.map((each) => ({ ...each, text: showCode(each.text, hiding) })),
    ...(args === undefined ? {} : { args: { ...args, text: showJson(args, hiding) } }),
  };
}

function showProgram<Program extends BoundProgram>(program: Program, hiding: Hiding): Program {
  const text = program.kind === "code" ? showCode(program.text, hiding) : showJson(program, hiding);
  return { ...program, text };
}

function showCode(code: string, hiding: Hiding): string {
  if (!mayHoldSecret(code)) return toExact(code);
  let shown = "";
  let end = 0;
  for (const literal of findTextLiterals(code)) {
    if (!isSecretValue(literal.value)) continue;
    shown += toExact(code.slice(end, literal.start)) + hiding.placeholderOf(literal.value);
    end = literal.end;
  }
  return shown + toExact(code.slice(end));
}

function showJson({ text }: BoundText, hiding: Hiding): string {
  return formatJson(JSON.parse(text), { hiding, name: "", indent: "" });
}

interface JsonPlace {
  readonly hiding: Hiding;
  /** Name of the property; items of a list have that of the list. */
  readonly name: string;
  readonly indent: string;
}

function formatJson(value: unknown, { hiding, name, indent }: JsonPlace): string {
  if (typeof value === "string" && isHidden(value, name, hiding)) return hiding.placeholderOf(value);
  if (typeof value !== "object" || value === null) return toExact(canonical(value));
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item: unknown) => formatJson(item, { hiding, name, indent: inner }))
    : Object.entries(value).map(
        ([key, item]) => `${toExact(JSON.stringify(key))}: ${formatJson(item, { hiding, name: key, indent: inner })}`,
      );
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item}`).join(",\n")}\n${indent}${close}`;
}

function isHidden(value: string, name: string, { isDeclared }: Hiding): boolean {
  return isSecretValue(value, name) || isDeclared?.(value) === true;
}

import type { z } from "zod";
import { findClosest } from "../../base/closest.ts";
import { PmlError } from "../../base/errors.ts";

interface Problem {
  /** `filter.minScore`; empty for the arguments as a whole. */
  readonly field: string;
  readonly received: string;
  readonly expected: string;
}

interface Findings {
  readonly issues: readonly z.core.$ZodIssue[];
  /** The JSON Schema of the arguments. */
  readonly schema: unknown;
}

/** Reports for each field the received and the expected value, so that the next call can be right. */
export function invalidArguments(tool: string, values: unknown, { issues, schema }: Findings): PmlError {
  const problems = issues.flatMap((issue) => describeIssue(issue, values, schema));
  const sentences = problems.map(
    ({ field, received, expected }) =>
      `${field === "" ? "arguments" : `"${field}"`}: expected ${expected}, got ${received}`,
  );
  return new PmlError("arguments_invalid", `Invalid arguments for ${tool}. ${sentences.join(". ")}`, {
    details: { problems },
  });
}

function describeIssue(issue: z.core.$ZodIssue, values: unknown, schema: unknown): Problem[] {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(asRecord(findSchema(schema, issue.path)["properties"]));
    return issue.keys.map((key) => unknownField([...issue.path, key], known));
  }
  const received = quote(findValue(values, issue.path));
  return [{ field: issue.path.join("."), received, expected: describeExpected(issue) }];
}

function unknownField(path: readonly PropertyKey[], known: readonly string[]): Problem {
  const closest = findClosest(String(path.at(-1)), known);
  const expected = closest === undefined ? `one of the fields ${known.join(", ")}` : `the field "${closest}"`;
  return { field: path.join("."), received: "an unknown field", expected };
}

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "items" };

function describeExpected(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return issue.expected;
  if (issue.code === "invalid_value") return issue.values.map((value) => JSON.stringify(value)).join(" or ");
  if (issue.code === "too_small") return `at least ${issue.minimum} ${UNITS[issue.origin] ?? ""}`.trim();
  if (issue.code === "too_big") return `at most ${issue.maximum} ${UNITS[issue.origin] ?? ""}`.trim();
  if (issue.code === "invalid_format") return `a ${issue.format}`;
  return issue.message;
}

const LONGEST_QUOTE = 80;

function quote(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;
}

function findValue(values: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => asRecord(value)[String(key)], values);
}

function findSchema(schema: unknown, path: readonly PropertyKey[]): Record<string, unknown> {
  return path.reduce<Record<string, unknown>>(
    (node, key) => asRecord(asRecord(node["properties"])[String(key)]),
    asRecord(schema),
  );
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

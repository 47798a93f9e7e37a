import type { TSSignature, TSType } from "oxc-parser";
import type { JsonSchema, JsonValue } from "../base/json.ts";
import { staticKey } from "./syntax-tree.ts";
import type { TypeNotes } from "./type-notes.ts";

const MAX_DEPTH = 20;
const KEYWORDS: Readonly<Record<string, string>> = {
  TSStringKeyword: "string",
  TSNumberKeyword: "number",
  TSBooleanKeyword: "boolean",
  TSNullKeyword: "null",
  TSObjectKeyword: "object",
};

export interface TypeMember {
  readonly name: string;
  readonly optional: boolean;
  readonly type: TSType | undefined;
}

/** Returns the members of an object type, undefined for any other type. */
export function membersOf(type: TSType, notes: TypeNotes): readonly TypeMember[] | undefined {
  if (type.type === "TSParenthesizedType") return membersOf(type.typeAnnotation, notes);
  if (type.type === "TSTypeLiteral") return toMembers(type.members);
  if (type.type === "TSTypeReference" && type.typeName.type === "Identifier") {
    const resolved = notes.resolve(type.typeName.name);
    if (resolved === undefined || "type" in resolved)
      return resolved?.type === "TSTypeLiteral" ? toMembers(resolved.members) : undefined;
    return toMembers(resolved);
  }
  return undefined;
}

function toMembers(signatures: readonly TSSignature[]): TypeMember[] | undefined {
  const members = signatures.flatMap((signature) => {
    const name = signature.type === "TSPropertySignature" ? staticKey(signature) : undefined;
    if (signature.type !== "TSPropertySignature" || name === undefined) return [];
    return [{ name, optional: signature.optional, type: signature.typeAnnotation?.typeAnnotation }];
  });
  return members.length === signatures.length ? members : undefined;
}

/** Converts a type to JSON Schema; types outside of JSON become `{}`. */
export function toSchema(type: TSType | undefined, notes: TypeNotes, depth = 0): JsonSchema {
  if (type === undefined || depth > MAX_DEPTH) return {};
  const keyword = KEYWORDS[type.type];
  if (keyword !== undefined) return { type: keyword };
  if (type.type === "TSParenthesizedType" || type.type === "TSTypeOperator") {
    return toSchema(type.typeAnnotation, notes, depth);
  }
  if (type.type === "TSArrayType") return { type: "array", items: toSchema(type.elementType, notes, depth + 1) };
  if (type.type === "TSTupleType") return { type: "array" };
  if (type.type === "TSUnionType") return unionSchema(type.types, notes, depth);
  const constant = literalOf(type);
  if (constant !== undefined) return { const: constant };
  const members = membersOf(type, notes);
  return members === undefined ? namedSchema(type, notes, depth) : objectSchema(members, notes, depth);
}

/** True for a union with `undefined`, whose value may be missing. */
export function allowsUndefined(type: TSType): boolean {
  return type.type === "TSUnionType" && type.types.some((each) => each.type === "TSUndefinedKeyword");
}

function objectSchema(members: readonly TypeMember[], notes: TypeNotes, depth: number): JsonSchema {
  const required = members.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(({ name, type }) => [name, toSchema(type, notes, depth + 1)])),
    ...(required.length > 0 && { required }),
  };
}

function unionSchema(types: readonly TSType[], notes: TypeNotes, depth: number): JsonSchema {
  const defined = types.filter((type) => type.type !== "TSUndefinedKeyword");
  const literals = defined.map(literalOf);
  if (literals.every((value) => value !== undefined)) return { enum: literals };
  const [only, ...others] = defined.map((type) => toSchema(type, notes, depth + 1));
  return others.length === 0 ? (only ?? {}) : { anyOf: [only, ...others] };
}

function literalOf(type: TSType): JsonValue | undefined {
  if (type.type !== "TSLiteralType" || type.literal.type !== "Literal") return undefined;
  const { value } = type.literal;
  return typeof value === "bigint" ? undefined : value;
}

function namedSchema(type: TSType, notes: TypeNotes, depth: number): JsonSchema {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return {};
  const { name } = type.typeName;
  const parameters = type.typeArguments?.params ?? [];
  if (name === "Array" || name === "ReadonlyArray") {
    return { type: "array", items: toSchema(parameters[0], notes, depth + 1) };
  }
  if (name === "Record") return { type: "object", additionalProperties: toSchema(parameters[1], notes, depth + 1) };
  if (name === "Readonly" || name === "NonNullable") return toSchema(parameters[0], notes, depth + 1);
  const resolved = notes.resolve(name);
  return resolved !== undefined && "type" in resolved ? toSchema(resolved, notes, depth + 1) : {};
}

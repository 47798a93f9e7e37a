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
  TSTupleType: "array",
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

/** Where in a type its expansion is. */
export interface TypePlace {
  readonly depth: number;
  /** The named types around; mentioned again inside of itself, one is `{}`. */
  readonly open: readonly string[];
}

export const OUTERMOST: TypePlace = { depth: 0, open: [] };
/** About the size of a schema without names and values. */
const PART_BYTES = 20;

/** Returns the place inside of a type; undefined where the type is not expanded again. */
export function enterType(type: TSType, notes: TypeNotes, { depth, open }: TypePlace): TypePlace | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const name = type.type === "TSTypeReference" && type.typeName.type === "Identifier" ? type.typeName.name : undefined;
  if (name === undefined || notes.resolve(name) === undefined) return { depth: depth + 1, open };
  return open.includes(name) ? undefined : { depth: depth + 1, open: [...open, name] };
}

/** Converts a type to JSON Schema; types outside of JSON become `{}`. */
export function toSchema(type: TSType | undefined, notes: TypeNotes, place = OUTERMOST): JsonSchema {
  const inner = type && enterType(type, notes, place);
  notes.spend(PART_BYTES);
  if (type === undefined || inner === undefined) return {};
  const keyword = KEYWORDS[type.type];
  if (keyword !== undefined) return { type: keyword };
  if (type.type === "TSParenthesizedType" || type.type === "TSTypeOperator") {
    return toSchema(type.typeAnnotation, notes, place);
  }
  if (type.type === "TSArrayType") return { type: "array", items: toSchema(type.elementType, notes, inner) };
  if (type.type === "TSUnionType") return unionSchema(type.types, notes, inner);
  const constant = literalOf(type, notes);
  if (constant !== undefined) return { const: constant };
  const members = membersOf(type, notes);
  return members === undefined ? namedSchema(type, notes, inner) : objectSchema(members, notes, inner);
}

/** True for a union with `undefined`, whose value may be missing. */
export function allowsUndefined(type: TSType): boolean {
  return type.type === "TSUnionType" && type.types.some((each) => each.type === "TSUndefinedKeyword");
}

function objectSchema(members: readonly TypeMember[], notes: TypeNotes, inner: TypePlace): JsonSchema {
  const required = members.filter(({ optional }) => !optional).map(({ name }) => name);
  for (const { name } of members) notes.spend(2 * name.length);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(({ name, type }) => [name, toSchema(type, notes, inner)])),
    ...(required.length > 0 && { required }),
  };
}

function unionSchema(types: readonly TSType[], notes: TypeNotes, inner: TypePlace): JsonSchema {
  const defined = types.filter((type) => type.type !== "TSUndefinedKeyword");
  const literals = defined.map((type) => literalOf(type, notes));
  if (literals.every((value) => value !== undefined)) return { enum: literals };
  const [only, ...others] = defined.map((type) => toSchema(type, notes, inner));
  return others.length === 0 ? (only ?? {}) : { anyOf: [only, ...others] };
}

function literalOf(type: TSType, notes: TypeNotes): JsonValue | undefined {
  if (type.type !== "TSLiteralType" || type.literal.type !== "Literal") return undefined;
  const { value } = type.literal;
  notes.spend(typeof value === "string" ? value.length : PART_BYTES);
  return typeof value === "bigint" ? undefined : value;
}

function namedSchema(type: TSType, notes: TypeNotes, inner: TypePlace): JsonSchema {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return {};
  const { name } = type.typeName;
  const parameters = type.typeArguments?.params ?? [];
  if (name === "Array" || name === "ReadonlyArray") {
    return { type: "array", items: toSchema(parameters[0], notes, inner) };
  }
  if (name === "Record") return { type: "object", additionalProperties: toSchema(parameters[1], notes, inner) };
  if (name === "Readonly" || name === "NonNullable") return toSchema(parameters[0], notes, inner);
  const resolved = notes.resolve(name);
  return resolved !== undefined && "type" in resolved ? toSchema(resolved, notes, inner) : {};
}

// @ts-check
import { formatValue } from "./console.mjs";
import { bytesAbove, cut, stringify } from "./intrinsics.mjs";

const MAX_ERROR_NAME = 100;
const MAX_MESSAGE = 4_000;
const MAX_STACK = 8_000;
const MAX_DATA = 16_000;

/** Serialises any thrown value. @param {unknown} thrown */
export function describeThrown(thrown) {
  const name = textOf(thrown, "name", "Error", MAX_ERROR_NAME);
  const stack = textOf(thrown, "stack", "", MAX_STACK);
  const code = read(thrown, "code");
  const codeText = typeof code === "string" ? `,"code":${stringify(cut(code, MAX_ERROR_NAME))}` : "";
  const data = dataOf(thrown);
  const dataText = data === undefined ? "" : `,"data":${data}`;
  return `{"name":${name},"message":${messageOf(thrown)},"stack":${stack}${codeText}${dataText}}`;
}

/** @param {unknown} thrown @param {"name" | "message" | "stack" | "code" | "data"} key */
function read(thrown, key) {
  if (thrown === null || (typeof thrown !== "object" && typeof thrown !== "function")) return undefined;
  try {
    return /** @type {Record<string, unknown>} */ (thrown)[key];
  } catch {
    return undefined;
  }
}

/** @param {unknown} thrown @param {"name" | "stack"} key @param {string} otherwise @param {number} longest */
function textOf(thrown, key, otherwise, longest) {
  const value = read(thrown, key);
  return stringify(cut(typeof value === "string" ? value : otherwise, longest));
}

/** @param {unknown} thrown */
function messageOf(thrown) {
  const message = read(thrown, "message");
  return stringify(cut(typeof message === "string" ? message : formatValue(thrown), MAX_MESSAGE));
}

/** @param {unknown} thrown */
function dataOf(thrown) {
  const data = read(thrown, "data");
  if (data === undefined) return undefined;
  try {
    const text = /** @type {string | undefined} */ (stringify(data));
    return text !== undefined && text.length <= MAX_DATA ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Serialises the program's return value; undefined becomes null. @param {unknown} value @param
 * {import("./channel.mjs").Channel} channel
 */
export function describeValue(value, channel) {
  const { maxResultBytes } = channel.limits;
  const text = /** @type {string | undefined} */ (stringify(value)) ?? "null";
  const bytes = bytesAbove(text, maxResultBytes);
  return bytes > maxResultBytes ? channel.exceed("maxResultBytes", bytes) : text;
}

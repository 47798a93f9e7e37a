// @ts-check
import { bytesAbove, cut, defineGlobal, stringify } from "./intrinsics.mjs";

const MAX_LINE = 8 * 1024;
const LEVELS = {
  log: "log",
  info: "info",
  warn: "warn",
  error: "error",
  debug: "debug",
  trace: "debug",
  dir: "log",
  table: "log",
};

/** @param {import("./channel.mjs").Channel} channel */
export function defineConsole(channel) {
  let lines = 0;
  let bytes = 0;
  let isCut = false;
  /** @param {string} level @param {string} text */
  const log = (level, text) => {
    if (isCut) return;
    lines += 1;
    bytes += bytesAbove(text, text.length);
    // Sends the first line above the limit, too: it tells the gateway that output was cut.
    isCut = lines > channel.limits.maxLogLines || bytes > channel.limits.maxLogBytes;
    channel.queueMessage(`["logged","${level}",${stringify(text)}]`);
    // Flushes at once: the last output explains why a program hangs.
    channel.flush();
  };
  /** @type {Record<string, (...values: unknown[]) => void>} */
  const methods = {};
  for (const [name, level] of Object.entries(LEVELS)) methods[name] = (...values) => log(level, formatLine(values));
  defineGlobal("console", methods);
}

/** @param {unknown[]} values */
function formatLine(values) {
  let line = "";
  for (let at = 0; at < values.length && line.length <= MAX_LINE; at += 1) {
    line += `${at === 0 ? "" : " "}${formatValue(values[at])}`;
  }
  return cut(line, MAX_LINE);
}

/** @param {unknown} value @returns {string} */
export function formatValue(value) {
  try {
    if (typeof value === "string") return value;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return "[function]";
    if (value instanceof Error) return String(value.stack || value);
    return stringify(value) ?? String(value);
  } catch {
    return describe(value);
  }
}

/** @param {unknown} value */
function describe(value) {
  try {
    return String(value);
  } catch {
    return "[cannot be printed]";
  }
}

// @ts-check
import { readSync, writeSync } from "node:fs";

const STDIN = 0;
const STDOUT = 1;
const HEADER_BYTES = 5;
const READ_BYTES = 64 * 1024;

let received = Buffer.alloc(0);

/** Writes frames with one call and blocks until they are written. @param {...[type: string, text: string]} frames */
export function writeFrames(...frames) {
  const bytes = Buffer.concat(frames.map(([type, text]) => encode(type, text)));
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      // The gateway has exited: nobody reads any more.
      if (codeOf(error) !== "EAGAIN") process.exit(1);
    }
  }
}

/** @param {string} type @param {string} text */
function encode(type, text) {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32LE(length + 1, 0);
  frame.write(type, 4, "latin1");
  frame.write(text, HEADER_BYTES);
  return frame;
}

/**
 * Blocks until a frame arrives; exits when the gateway has closed the pipe. @returns {{ type: string, text: string }}
 */
export function readFrame() {
  const length = take(4).readUInt32LE(0);
  const body = take(length);
  return { type: String.fromCharCode(body[0] ?? 0), text: body.toString("utf8", 1) };
}

/** @param {number} count */
function take(count) {
  const parts = [received];
  let have = received.length;
  while (have < count) {
    const chunk = readChunk(Math.max(READ_BYTES, count - have));
    parts.push(chunk);
    have += chunk.length;
  }
  if (parts.length > 1) received = Buffer.concat(parts);
  const taken = received.subarray(0, count);
  received = received.subarray(count);
  return taken;
}

/** @param {number} most */
function readChunk(most) {
  const chunk = Buffer.allocUnsafe(most);
  for (;;) {
    try {
      const count = readSync(STDIN, chunk, 0, most, null);
      if (count === 0) process.exit(0);
      return chunk.subarray(0, count);
    } catch (error) {
      if (codeOf(error) === "EOF") process.exit(0);
      if (codeOf(error) !== "EAGAIN") throw error;
    }
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}

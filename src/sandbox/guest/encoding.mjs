// @ts-check
const REPLACEMENT = 0xfffd;
const CHUNK = 4096;

/** Encodes UTF-8; lone surrogates become U+FFFD. @param {string} text */
export function encodeUtf8(text) {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const point = /** @type {number} */ (text.codePointAt(at));
    if (point > 0xffff) at += 1;
    const scalar = point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point;
    const more = scalar < 0x80 ? 0 : scalar < 0x800 ? 1 : scalar < 0x10000 ? 2 : 3;
    bytes[length] = more === 0 ? scalar : ((0xff00 >> (more + 1)) & 0xff) | (scalar >> (6 * more));
    for (let rest = more - 1; rest >= 0; rest -= 1) bytes[(length += 1)] = 0x80 | ((scalar >> (6 * rest)) & 0x3f);
    length += 1;
  }
  return bytes.slice(0, length);
}

/** Returns how many bytes follow the first one of a character, 0 for an invalid first byte. @param {number} first */
function countFollowing(first) {
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/**
 * Narrower bounds for some second bytes: no overlong forms, no surrogates, nothing past U+10FFFF.
 * @type {Readonly<Record<number, readonly [least: number, most: number]>>}
 */
const SECOND_BYTES = { 0xe0: [0xa0, 0xbf], 0xed: [0x80, 0x9f], 0xf0: [0x90, 0xbf], 0xf4: [0x80, 0x8f] };

/**
 * Decodes one UTF-8 character to its code point and length in bytes; the point is negative for invalid bytes.
 * @param {Uint8Array} bytes @param {number} at @returns {[point: number, length: number]}
 */
function decodePoint(bytes, at) {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return [first, 1];
  const following = countFollowing(first);
  if (following === 0) return [-1, 1];
  let point = first & (0x3f >> following);
  let [least, most] = SECOND_BYTES[first] ?? [0x80, 0xbf];
  for (let step = 1; step <= following; step += 1) {
    const next = bytes[at + step] ?? 0;
    if (next < least || next > most) return [-1, step];
    point = (point << 6) | (next & 0x3f);
    [least, most] = [0x80, 0xbf];
  }
  return [point, following + 1];
}

/** @param {Uint8Array} bytes @param {boolean} fatal */
export function decodeUtf8(bytes, fatal) {
  let text = "";
  /** @type {number[]} */
  let units = [];
  for (let at = 0; at < bytes.length;) {
    const [point, length] = decodePoint(bytes, at);
    if (point < 0 && fatal) throw new TypeError("The encoded data was not valid for encoding utf-8");
    at += length;
    if (point > 0xffff) units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    else units.push(point < 0 ? REPLACEMENT : point);
    if (units.length >= CHUNK) {
      text += String.fromCharCode(...units);
      units = [];
    }
  }
  return text + String.fromCharCode(...units);
}

export class TextEncoder {
  encoding = "utf-8";

  /** @param {unknown} [text] */
  encode(text = "") {
    return encodeUtf8(String(text));
  }

  /** @param {unknown} text @param {Uint8Array} target */
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = encodeUtf8(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      read += character.length;
      written += bytes.length;
    }
    return { read, written };
  }
}

export class TextDecoder {
  encoding = "utf-8";
  fatal;
  ignoreBOM;

  /** @param {string} [label] @param {{ fatal?: boolean, ignoreBOM?: boolean }} [options] */
  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*utf-?8\s*$/i.test(label)) throw new RangeError(`Only utf-8 can be decoded in PML code, not "${label}"`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  /** @param {ArrayBuffer | ArrayBufferView} [input] */
  decode(input = new ArrayBuffer(0)) {
    const bytes =
      input instanceof ArrayBuffer
        ? new Uint8Array(input)
        : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    const text = decodeUtf8(bytes, this.fatal);
    return !this.ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** @param {unknown} value */
export function btoa(value) {
  const text = String(value);
  let result = "";
  for (let at = 0; at < text.length; at += 3) {
    const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1) || 0, text.charCodeAt(at + 2) || 0];
    if (a > 0xff || b > 0xff || c > 0xff) throw invalidCharacter("btoa: the text has characters above U+00FF");
    const bits = (a << 16) | (b << 8) | c;
    const left = text.length - at;
    result += `${BASE64[bits >> 18]}${BASE64[(bits >> 12) & 63]}`;
    result += left > 1 ? BASE64[(bits >> 6) & 63] : "=";
    result += left > 2 ? BASE64[bits & 63] : "=";
  }
  return result;
}

/** @param {unknown} value */
export function atob(value) {
  let text = String(value).replace(/[\t\n\f\r ]/g, "");
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalidCharacter("atob: the text is not base64");
  let result = "";
  let bits = 0;
  let count = 0;
  for (const character of text) {
    bits = ((bits << 6) | BASE64.indexOf(character)) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      result += String.fromCharCode((bits >> count) & 0xff);
    }
  }
  return result;
}

/** @param {string} message */
function invalidCharacter(message) {
  const error = new Error(message);
  error.name = "InvalidCharacterError";
  return error;
}

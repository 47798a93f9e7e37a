// @ts-check
import { encodeUtf8 } from "./encoding.mjs";

/**
 * A parsed URL. `path` is a list of segments, or a string where the scheme gives it no structure (`mailto:…`).
 * @typedef {{
 * scheme: string, username: string, password: string, host: string | null, port: string,
 * path: string[] | string, query: string | null, fragment: string | null,
 * }} UrlParts
 */

/** Schemes with a host, and their default ports. @type {Readonly<Record<string, string>>} */
const SPECIAL = { http: "80", https: "443", ws: "80", wss: "443", ftp: "21", file: "" };

/** @param {string} scheme */
export const isSpecial = (scheme) => Object.hasOwn(SPECIAL, scheme);

export const ESCAPED = {
  fragment: /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu,
  query: /[^\x21\x24-\x3b\x3d\x3f-\x7e]/gu,
  specialQuery: /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]/gu,
  path: /[^\x21\x24-\x3b\x3d\x40-\x5d\x5f\x61-\x7a\x7c\x7e]/gu,
  user: /[^\x21\x24-\x2e\x30-\x39\x41-\x5a\x5f\x61-\x7a\x7e]/gu,
  opaque: /[^\x20-\x7e]/gu,
};

/** @param {string} text @param {RegExp} characters */
export function percentEncode(text, characters) {
  return text.toWellFormed().replace(characters, (character) => {
    let escaped = "";
    for (const byte of encodeUtf8(character)) escaped += `%${(byte + 0x100).toString(16).slice(1).toUpperCase()}`;
    return escaped;
  });
}

/** @param {string} text @param {string} scheme */
export function encodeQuery(text, scheme) {
  return percentEncode(text, isSpecial(scheme) ? ESCAPED.specialQuery : ESCAPED.query);
}

/** @param {string} input @param {UrlParts} [base] @returns {UrlParts | undefined} */
export function parseUrl(input, base) {
  const text = input.replace(/^[\x00- ]+|[\x00- ]+$/g, "").replace(/[\t\n\r]/g, "");
  const [, body = "", query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(body)?.[1]?.toLowerCase();
  const parts = scheme === undefined ? parseRelative(body, base) : parseAbsolute(scheme, body.slice(scheme.length + 1));
  if (parts === undefined) return undefined;
  const keepsQuery = scheme === undefined && body === "" && query === undefined;
  if (!keepsQuery) parts.query = query === undefined ? null : encodeQuery(query, parts.scheme);
  parts.fragment = fragment === undefined ? null : percentEncode(fragment, ESCAPED.fragment);
  return parts;
}

/** @param {string} scheme @returns {UrlParts} */
function emptyParts(scheme) {
  return { scheme, username: "", password: "", host: null, port: "", path: [], query: null, fragment: null };
}

/** @param {string} scheme @param {string} rest */
function parseAbsolute(scheme, rest) {
  const parts = emptyParts(scheme);
  if (isSpecial(scheme)) {
    const slashes = /^[/\\]*/.exec(rest)?.[0].length ?? 0;
    if (scheme !== "file") return parseAuthority(parts, rest.slice(slashes));
    if (slashes >= 2) return parseAuthority(parts, rest.slice(2));
    parts.host = "";
    parts.path = parsePath(rest, [], true);
    return parts;
  }
  if (rest.startsWith("//")) return parseAuthority(parts, rest.slice(2));
  parts.path = rest.startsWith("/") ? parsePath(rest, [], false) : percentEncode(rest, ESCAPED.opaque);
  return parts;
}

/** @param {string} body @param {UrlParts | undefined} base */
function parseRelative(body, base) {
  if (base === undefined) return undefined;
  const parts = structuredCopy(base);
  if (typeof base.path === "string") return body === "" ? parts : undefined;
  const special = isSpecial(base.scheme);
  const text = special ? body.replaceAll("\\", "/") : body;
  if (text.startsWith("//")) return parseAuthority(emptyParts(base.scheme), text.slice(2));
  if (text !== "") parts.path = parsePath(text, text.startsWith("/") ? [] : base.path.slice(0, -1), special);
  return parts;
}

/** @param {UrlParts} parts @returns {UrlParts} */
function structuredCopy(parts) {
  return { ...parts, path: typeof parts.path === "string" ? parts.path : [...parts.path] };
}

/** @param {UrlParts} parts @param {string} text the part after the two slashes */
function parseAuthority(parts, text) {
  const special = isSpecial(parts.scheme);
  const end = text.search(special ? /[/\\]/ : /\//);
  const authority = end === -1 ? text : text.slice(0, end);
  const at = authority.lastIndexOf("@");
  if (at !== -1) setCredentials(parts, authority.slice(0, at));
  if (!setHost(parts, authority.slice(at + 1))) return undefined;
  const path = end === -1 ? "" : text.slice(end);
  parts.path = path === "" && !special ? [] : parsePath(path, [], special);
  return parts;
}

/** @param {UrlParts} parts @param {string} text */
function setCredentials(parts, text) {
  const colon = text.indexOf(":");
  parts.username = percentEncode(colon === -1 ? text : text.slice(0, colon), ESCAPED.user);
  parts.password = colon === -1 ? "" : percentEncode(text.slice(colon + 1), ESCAPED.user);
}

/** Sets host and port; returns false if they are invalid. @param {UrlParts} parts @param {string} text */
export function setHost(parts, text) {
  const [, host, port = ""] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(text) ?? [];
  if (host === undefined || (host === "" && isSpecial(parts.scheme) && parts.scheme !== "file")) return false;
  const known = parseHost(host, parts.scheme);
  if (known === undefined || !setPort(parts, port)) return false;
  parts.host = parts.scheme === "file" && known === "localhost" ? "" : known;
  return true;
}

/** @param {UrlParts} parts @param {string} text */
export function setPort(parts, text) {
  const number = Number(text);
  if (!/^[0-9]*$/.test(text) || number > 65_535) return false;
  parts.port = text === "" || String(number) === SPECIAL[parts.scheme] ? "" : String(number);
  return true;
}

/** @param {string} text @param {string} scheme @returns {string | undefined} */
function parseHost(text, scheme) {
  if (text.startsWith("[")) return /^\[[0-9a-f:.]{2,45}\]$/i.test(text) ? text.toLowerCase() : undefined;
  if (!isSpecial(scheme))
    return /[\x00\t\n\r #/<>?@[\\\]^|]/.test(text) ? undefined : percentEncode(text, ESCAPED.opaque);
  const host = decodeAscii(text).toLowerCase();
  // Rejects international names, whose tables are too large for a guest: programs must use punycode.
  if (/[^\x21-\x7e]|[#%/:<>?@[\\\]^|]/.test(host)) return undefined;
  return /(^|\.)[0-9]+\.?$/.test(host) ? parseIpv4(host) : host;
}

/** @param {string} text */
function decodeAscii(text) {
  return text.replace(/%([0-7][0-9a-f])/gi, (_escape, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** @param {string} host */
function parseIpv4(host) {
  const numbers = host.replace(/\.$/, "").split(".");
  const isAddress = numbers.length === 4 && numbers.every((part) => /^[0-9]{1,3}$/.test(part) && Number(part) <= 255);
  return isAddress ? numbers.map(Number).join(".") : undefined;
}

/** @param {string} text @param {string[]} onto @param {boolean} special */
export function parsePath(text, onto, special) {
  const path = [...onto];
  const segments = (special ? text.replaceAll("\\", "/") : text).replace(/^\//, "").split("/");
  segments.forEach((segment, at) => {
    const plain = segment.replace(/%2e/gi, ".");
    const isLast = at === segments.length - 1;
    if (plain === "..") path.pop();
    if (plain !== "." && plain !== "..") path.push(percentEncode(segment, ESCAPED.path));
    else if (isLast) path.push("");
  });
  return path;
}

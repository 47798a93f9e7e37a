// @ts-check
import { URLSearchParams } from "./url-search-params.mjs";
import { encodeQuery, ESCAPED, isSpecial, parsePath, parseUrl, percentEncode, setHost, setPort } from "./url-parts.mjs";

/** @typedef {import("./url-parts.mjs").UrlParts} UrlParts */

/** @param {unknown} input @param {unknown} base */
function parseWithBase(input, base) {
  const against = base === undefined ? undefined : parseUrl(String(base));
  if (base !== undefined && against === undefined) return undefined;
  return parseUrl(String(input), against);
}

/** @param {unknown} input @param {unknown} base */
function parseOrThrow(input, base) {
  const parts = parseWithBase(input, base);
  if (parts !== undefined) return parts;
  const error = /** @type {TypeError & { code?: string, input?: string }} */ (new TypeError("Invalid URL"));
  error.code = "ERR_INVALID_URL";
  error.input = String(input);
  throw error;
}

/** @param {UrlParts} parts */
function pathText({ path, host }) {
  if (typeof path === "string") return path;
  const text = path.map((segment) => `/${segment}`).join("");
  // Without a host, two slashes at the start would parse as a host.
  return host === null && text.startsWith("//") ? `/.${text}` : text;
}

/** @param {UrlParts} parts */
function hostText({ host, port }) {
  return port === "" ? (host ?? "") : `${host ?? ""}:${port}`;
}

/** @param {UrlParts} parts */
function formatUrl(parts) {
  const { scheme, username, password, host, query, fragment } = parts;
  const secret = password === "" ? "" : `:${password}`;
  const user = username === "" && password === "" ? "" : `${username}${secret}@`;
  const authority = host === null ? "" : `//${user}${hostText(parts)}`;
  const tail = `${query === null ? "" : `?${query}`}${fragment === null ? "" : `#${fragment}`}`;
  return `${scheme}:${authority}${pathText(parts)}${tail}`;
}

export class URL {
  /** @type {UrlParts} */
  #parts;
  /** @type {URLSearchParams | undefined} */
  #params;

  /** @param {unknown} input @param {unknown} [base] */
  constructor(input, base) {
    this.#parts = parseOrThrow(input, base);
  }

  /** @param {unknown} input @param {unknown} [base] */
  static canParse(input, base) {
    return parseWithBase(input, base) !== undefined;
  }

  /** @param {unknown} input @param {unknown} [base] */
  static parse(input, base) {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }

  get href() {
    return formatUrl(this.#parts);
  }

  set href(value) {
    this.#parts = parseOrThrow(value, undefined);
    this.#params = undefined;
  }

  get origin() {
    const { scheme } = this.#parts;
    return isSpecial(scheme) && scheme !== "file" ? `${scheme}://${hostText(this.#parts)}` : "null";
  }

  get protocol() {
    return `${this.#parts.scheme}:`;
  }

  set protocol(value) {
    const scheme = /^([a-z][a-z0-9+.-]*):?/i.exec(value)?.[1]?.toLowerCase();
    if (scheme === undefined || isSpecial(scheme) !== isSpecial(this.#parts.scheme)) return;
    this.#parts.scheme = scheme;
    setPort(this.#parts, this.#parts.port);
  }

  get username() {
    return this.#parts.username;
  }

  set username(value) {
    if (this.#parts.host) this.#parts.username = percentEncode(value, ESCAPED.user);
  }

  get password() {
    return this.#parts.password;
  }

  set password(value) {
    if (this.#parts.host) this.#parts.password = percentEncode(value, ESCAPED.user);
  }

  get host() {
    return hostText(this.#parts);
  }

  set host(value) {
    if (typeof this.#parts.path === "string") return;
    const { port } = this.#parts;
    if (setHost(this.#parts, value) && !/:[0-9]+$/.test(value)) setPort(this.#parts, port);
  }

  get hostname() {
    return this.#parts.host ?? "";
  }

  set hostname(value) {
    const { path, port } = this.#parts;
    if (typeof path !== "string" && !/:[0-9]*$/.test(value) && setHost(this.#parts, value)) setPort(this.#parts, port);
  }

  get port() {
    return this.#parts.port;
  }

  set port(value) {
    if (this.#parts.host) setPort(this.#parts, String(value));
  }

  get pathname() {
    return pathText(this.#parts);
  }

  set pathname(value) {
    if (typeof this.#parts.path === "string") return;
    this.#parts.path = parsePath(value, [], isSpecial(this.#parts.scheme));
  }

  get search() {
    return this.#parts.query ? `?${this.#parts.query}` : "";
  }

  set search(value) {
    const text = value.replace(/^\?/, "");
    this.#parts.query = text === "" ? null : encodeQuery(text, this.#parts.scheme);
    this.#params = undefined;
  }

  get searchParams() {
    const write = (/** @type {string} */ text) => void (this.#parts.query = text === "" ? null : text);
    return (this.#params ??= new URLSearchParams(this.#parts.query ?? "", write));
  }

  get hash() {
    return this.#parts.fragment ? `#${this.#parts.fragment}` : "";
  }

  set hash(value) {
    const text = value.replace(/^#/, "");
    this.#parts.fragment = text === "" ? null : percentEncode(text, ESCAPED.fragment);
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }
}

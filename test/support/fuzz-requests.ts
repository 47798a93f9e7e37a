/** Generates HTTP requests that no client should send, as bytes on the wire. */
import { type Era, envelope, type FuzzMessage, fuzzMessage, validRequest } from "./fuzz-messages.ts";
import type { Random } from "./random.ts";

export interface FuzzRequest {
  readonly kind: string;
  readonly bytes: Buffer;
  readonly mustFail: boolean;
  /** The framing is valid, so there must be an answer. */
  readonly answered: boolean;
  /** The client ends its side after the last byte. */
  readonly halfClose: boolean;
}

export interface FuzzTarget {
  readonly host: string;
  readonly token: string;
  readonly session: string;
}

type Headers = [name: string, value: string][];

function baseHeaders(target: FuzzTarget, era: Era, request: { method?: unknown; params?: unknown }): Headers {
  const common: Headers = [
    ["Host", target.host],
    ["Authorization", `Bearer ${target.token}`],
    ["Content-Type", "application/json"],
    ["Accept", "application/json, text/event-stream"],
  ];
  if (era === "legacy") return [...common, ["Mcp-Session-Id", target.session], ["Mcp-Protocol-Version", "2025-11-25"]];
  const name = (request.params as { name?: unknown } | undefined)?.name;
  return [
    ...common,
    ["Mcp-Protocol-Version", "2026-07-28"],
    ["Mcp-Method", typeof request.method === "string" ? latin1(request.method) : "tools/list"],
    ...(typeof name === "string" ? [["Mcp-Name", latin1(name)] satisfies Headers[number]] : []),
  ];
}

/** Replaces characters that a header cannot contain. */
function latin1(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, "?").slice(0, 200);
}

const ODD_HEADERS: Readonly<Record<string, readonly string[]>> = {
  "Mcp-Session-Id": ["", " ", "x", "../../token", "00000000-0000-0000-0000-000000000000", "a, b", "__proto__", "é"],
  "Mcp-Method": ["", "tools/call", "TOOLS/LIST", "__proto__", "x\ty", "tools/list, tools/call"],
  "Mcp-Name": ["", "other", "__proto__", "chaos__exit_now", "=?utf-8?B?eA==?="],
  "Mcp-Protocol-Version": [
    "",
    "1",
    "2024-11-05",
    "2025-11-25",
    "2026-07-28",
    "9999-99-99",
    "__proto__",
    "2026-07-28, 2025-11-25",
  ],
  "Content-Type": [
    "",
    "text/plain",
    "application/json; charset=utf-16",
    "application/jsonp",
    "multipart/form-data; boundary=x",
    ";;;",
  ],
  Accept: ["", "*/*", "text/html", "application/json", "text/event-stream", "q=;;,"],
  Host: ["", "evil.example", "127.0.0.1.evil.example", "localhost:99999", "[::1]", "[", "127.0.0.1:1:2"],
  Origin: ["null", "http://evil.example", "http://", "://", "file:///etc/passwd", "http://127.0.0.1.evil.example"],
  Authorization: ["", "Bearer", "Bearer x", "Basic eDp4", `Bearer ${"x".repeat(9_000)}`, "Bearer é"],
  "Last-Event-ID": ["", "0", "-1", "__proto__", "x".repeat(5_000)],
  Expect: ["100-continue", "200-ok"],
  Upgrade: ["websocket", "h2c", "pml-stdio"],
  Cookie: ["a=b", "x".repeat(9_000)],
  "Mcp-Param-Region": ["x", "=?", "é"],
};

const METHODS = ["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "TRACE"];
const PATHS = [
  "/mcp/",
  "/mcp?x=1",
  "/MCP",
  "/mcp/../mcp",
  "//",
  "//mcp",
  "/%",
  "/mcp%00",
  "/\\",
  "http://[/mcp",
  "*",
  "/stdio",
  "/api/none",
  "?",
];

/** Generates a request with valid framing; its headers, its body, or both are not. */
export function fuzzRequest(random: Random, target: FuzzTarget): FuzzRequest {
  const era = random.pick<Era>(["legacy", "legacy", "modern"]);
  const isOdd = random.chance(60);
  const { kind, bytes, mustFail } = isOdd ? fuzzMessage(random, era) : validMessage(random, era);
  const { headers, changed } = changeHeaders(random, baseHeaders(target, era, parsed(bytes)), isOdd ? 0 : 1);
  const method = random.chance(8) ? random.pick(METHODS) : "POST";
  const path = random.chance(5) ? random.pick(PATHS) : "/mcp";
  const upgrade = headers.find(([name]) => name === "Upgrade")?.[1];
  const connection = upgrade === undefined ? "close" : "close, Upgrade";
  return {
    kind: `${method} ${path}, ${kind}, headers changed: ${changed.join(" and ")}`,
    bytes: frame({ method, path, headers: [...headers, ["Connection", connection]], body: bytes }),
    mustFail: method === "POST" && mustFail,
    answered: !(method === "GET" && path === "/stdio" && upgrade === "pml-stdio"),
    halfClose: false,
  };
}

function validMessage(random: Random, era: Era): FuzzMessage {
  return { kind: "a valid body", bytes: Buffer.from(JSON.stringify(validRequest(random, era))), mustFail: false };
}

function changeHeaders(random: Random, base: Headers, least: number): { headers: Headers; changed: string[] } {
  const changed = Array.from({ length: random.between(least, 3) }, () => random.pick(Object.keys(ODD_HEADERS)));
  const headers = base.filter(([name]) => !changed.includes(name));
  for (const name of new Set(changed)) {
    const value = random.pick([undefined, ...(ODD_HEADERS[name] ?? [])]);
    if (value !== undefined) headers.push([name, random.chance(3) ? "y".repeat(20_000) : value]);
  }
  return { headers, changed };
}

function parsed(bytes: Buffer): { method?: unknown; params?: unknown } {
  try {
    return (JSON.parse(bytes.toString()) as object | null) ?? {};
  } catch {
    return {};
  }
}

interface RequestFrame {
  readonly method?: string;
  readonly path?: string;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly length?: number | string;
}

function frame({ method = "POST", path = "/mcp", headers, body, length = body.length }: RequestFrame): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\nContent-Length: ${length}\r\n\r\n`, "latin1"), body]);
}

/** Generates a body of any size, of an otherwise valid call. */
export function sizedRequest(target: FuzzTarget, size: number): Buffer {
  const request = {
    jsonrpc: "2.0",
    id: "big",
    method: "tools/call",
    params: { name: "chaos__echo", _meta: envelope(), arguments: { text: "" } },
  };
  const empty = JSON.stringify(request).length;
  request.params.arguments.text = "x".repeat(size - empty);
  const headers = [...baseHeaders(target, "modern", request), ["Connection", "close"] satisfies Headers[number]];
  return frame({ headers, body: Buffer.from(JSON.stringify(request)) });
}

type Wire = (
  random: Random,
  parts: { readonly headers: Headers; readonly body: Buffer },
) => { bytes: Buffer; halfClose?: boolean };

/** Requests with invalid framing. The HTTP server may answer or close the connection. */
const WIRES: Readonly<Record<string, Wire>> = {
  "length too long, then half closed": (_random, parts) => ({
    bytes: frame({ ...parts, length: parts.body.length + 10 }),
    halfClose: true,
  }),
  "length too short": (_random, parts) => ({
    bytes: frame({ ...parts, length: Math.max(0, parts.body.length - 5) }),
    halfClose: true,
  }),
  "length that is none": (random, parts) => ({
    bytes: frame({ ...parts, length: random.pick(["x", "-1", "1e3", "0x10", "99999999999999999999", "5, 5", ""]) }),
    halfClose: true,
  }),
  "half closed after the headers": (_random, { headers }) => ({
    bytes: frame({ headers, body: Buffer.of(), length: 100 }),
    halfClose: true,
  }),
  "chunked garbage": (random, { headers, body }) => {
    const chunks = random.pick([
      "zz\r\n",
      "5\r\nab",
      "ffffffffffffffff\r\nx",
      "-1\r\n",
      "0\r\nx",
      `${body.length.toString(16)}\r\n${body.toString("latin1")}XX`,
    ]);
    const lines = [
      "POST /mcp HTTP/1.1",
      ...headers.map(([name, value]) => `${name}: ${value}`),
      "Transfer-Encoding: chunked",
    ];
    return { bytes: Buffer.from(`${lines.join("\r\n")}\r\n\r\n${chunks}`, "latin1"), halfClose: true };
  },
  "length and chunked": (_random, { headers, body }) => ({
    bytes: frame({ headers: [...headers, ["Transfer-Encoding", "chunked"]], body }),
    halfClose: true,
  }),
  pipelined: (random, parts) => ({
    bytes: Buffer.concat(Array.from({ length: random.between(2, 8) }, () => frame(parts))),
    halfClose: true,
  }),
  "pipelined after garbage": (_random, parts) => ({
    bytes: Buffer.concat([frame(parts), Buffer.from("garbage\r\n\r\n"), frame(parts)]),
    halfClose: true,
  }),
  "no HTTP": (random) => ({
    bytes: Buffer.from(
      random.pick([
        "\r\n\r\n",
        "GET\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001",
        "{}\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\u0000".repeat(100),
      ]),
      "latin1",
    ),
    halfClose: true,
  }),
  "broken headers": (random, { headers, body }) => ({
    bytes: frame({
      headers: [
        ...headers,
        random.pick<Headers[number]>([
          ["A b", "c"],
          ["X", "a\nb"],
          ["X", "\u0000"],
          ["", "x"],
          ["Content-Length", "7"],
          ["X", "z".repeat(70_000)],
        ]),
      ],
      body,
    }),
    halfClose: true,
  }),
  "many headers": (_random, { headers, body }) => ({
    bytes: frame({
      headers: [
        ...headers,
        ...Array.from({ length: 3_000 }, (_, index) => [`X-${index}`, "1"] satisfies Headers[number]),
      ],
      body,
    }),
    halfClose: true,
  }),
  "cut off in the body": (_random, parts) => ({ bytes: frame({ ...parts, length: parts.body.length + 1_000 }) }),
};

export function fuzzWire(random: Random, target: FuzzTarget): FuzzRequest {
  const era = random.pick<Era>(["legacy", "modern"]);
  const request = validRequest(random, era);
  const kind = random.pick(Object.keys(WIRES));
  const parts = { headers: baseHeaders(target, era, request), body: Buffer.from(JSON.stringify(request)) };
  const { bytes, halfClose = false } = WIRES[kind]?.(random, parts) ?? { bytes: Buffer.of() };
  return { kind, bytes, mustFail: false, answered: false, halfClose };
}

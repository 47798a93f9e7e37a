/** Generates messages that no client should send, by kind and from a seed. */
import { type JsonFields, nestText, ODD_NAMES, oddValue, paths, replaceAt } from "./fuzz-values.ts";
import type { Random } from "./random.ts";

export interface FuzzMessage {
  readonly kind: string;
  readonly bytes: Buffer;
  /** True if only an error or no answer is right. */
  readonly mustFail: boolean;
}

export type Era = "legacy" | "modern";

/** A string in place of an object is sent verbatim. */
interface Draft {
  readonly message: unknown;
  readonly mustFail?: boolean;
}

let lastId = 0;

/** Generates a valid request. Its tool is a harmless one of the chaos server. */
export function validRequest(random: Random, era: Era): JsonFields & { method: string; params: JsonFields } {
  const uri = "pml+chaos:test://x";
  const [method, params] = random.pick<[string, JsonFields]>([
    ["tools/list", {}],
    ["tools/call", { name: "chaos__echo", arguments: { text: "hi" } }],
    ["tools/call", { name: "chaos:echo", arguments: { text: "hi" } }],
    ["prompts/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri }],
    ["prompts/get", { name: "chaos__none" }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "x" }, argument: { name: "a", value: "b" } }],
    ...(era === "legacy" ? LEGACY_ONLY(uri) : MODERN_ONLY(uri)),
  ]);
  lastId += 1;
  return {
    jsonrpc: "2.0",
    id: random.chance(50) ? lastId : `fuzz-${lastId}`,
    method,
    params: era === "modern" ? { ...params, _meta: envelope() } : params,
  };
}

const LEGACY_ONLY = (uri: string): [string, JsonFields][] => [
  ["ping", {}],
  ["resources/subscribe", { uri }],
  ["resources/unsubscribe", { uri }],
];
const MODERN_ONLY = (uri: string): [string, JsonFields][] => [
  ["server/discover", {}],
  ["subscriptions/listen", { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } }],
];

export function envelope(): JsonFields {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "fuzz", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}

type MessageKind = (random: Random, era: Era) => Draft;

const KINDS: Readonly<Record<string, MessageKind>> = {
  "invalid JSON": (random, era) => {
    const text = JSON.stringify(validRequest(random, era));
    const cut = text.slice(0, random.between(1, text.length - 1));
    const soup = Array.from({ length: random.between(1, 40) }, () => random.pick([..."{}[]\",:0eE.-tfn\\ '"])).join("");
    const message = random.pick([
      cut,
      `${text}}`,
      `${text}${text}`,
      `[${soup}]{`,
      "NaN",
      "{'a':1}",
      `{"a":1,}`,
      text.slice(1),
    ]);
    return { message, mustFail: true };
  },
  "no message": (random) => ({
    message: random.pick([
      null,
      true,
      7,
      "text",
      [[]],
      {},
      { jsonrpc: "2.0" },
      { id: 1 },
      { jsonrpc: "1.0", id: 1, method: "ping" },
    ]),
    mustFail: true,
  }),
  "wrong type": (random, era) => {
    const request = validRequest(random, era);
    const places = paths(request).filter(({ length }) => length > 0);
    return { message: replaceAt(request, random.pick(places), oddValue(random)) };
  },
  "missing member": (random, era) => {
    const request = validRequest(random, era);
    const path = random.pick(paths(request).filter(({ length }) => length > 0));
    return { message: replaceAt(request, path, undefined) };
  },
  "deep nesting": (random, era) => {
    const request = validRequest(random, era);
    const marker = "<deep>";
    const path = random.pick([["params", "arguments"], ["params"], ["id"], ["params", "_meta"], ["extra"]]);
    const text = JSON.stringify(replaceAt(request, path, marker));
    return { message: text.replace(`"${marker}"`, nestText(random.pick([100, 2_000, 20_000]), random)) };
  },
  "huge string": (random, era) => {
    const request = validRequest(random, era);
    const path = random.pick([["params", "name"], ["method"], ["id"], ["params", "uri"], ["params", "arguments"]]);
    return {
      message: replaceAt(
        request,
        path,
        random.pick(["x", "😀", "\\", "\u0000"]).repeat(random.between(10_000, 200_000)),
      ),
    };
  },
  "unknown method": (random, era) => {
    const method = random.pick([
      ...ODD_NAMES,
      "tools/lis",
      "TOOLS/LIST",
      "tools/list ",
      "rpc.discover",
      "tasks/get",
      "roots/list",
    ]);
    return { message: { ...validRequest(random, era), method }, mustFail: true };
  },
  "malformed initialize": (random) => {
    lastId += 1;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } };
    const request = { jsonrpc: "2.0", id: lastId, method: "initialize", params };
    const path = random.pick(paths(request).filter(([first]) => first === "params"));
    return { message: replaceAt(request, path, oddValue(random)) };
  },
  batch: (random, era) => ({
    message: Array.from({ length: random.between(0, 20) }, () =>
      random.chance(70) ? validRequest(random, era) : oddValue(random),
    ),
  }),
  "notification as a request": (random, era) => {
    const method = random.pick([
      "notifications/initialized",
      "notifications/cancelled",
      "notifications/progress",
      "notifications/message",
    ]);
    return { message: { ...validRequest(random, era), method } };
  },
  "request as a notification": (random, era) => {
    const { id: _id, ...rest } = validRequest(random, era);
    return { message: rest };
  },
  "odd notification": (random) => ({
    message: {
      jsonrpc: "2.0",
      method: random.pick([
        "notifications/cancelled",
        "notifications/progress",
        "notifications/initialized",
        "notifications/roots/list_changed",
        "nonsense",
      ]),
      params: random.pick([
        { requestId: oddValue(random) },
        { progressToken: oddValue(random), progress: oddValue(random) },
        oddValue(random),
      ]),
    },
  }),
  "answer to no question": (random) => {
    const id = random.pick<unknown>([0, 1, -1, "x", null, lastId, {}]);
    const answer = random.pick<JsonFields>([
      { result: {} },
      { result: oddValue(random) },
      { error: { code: 1, message: "x" } },
      { error: oddValue(random) },
      { result: {}, error: {} },
    ]);
    return { message: { jsonrpc: "2.0", id, ...answer } };
  },
  "prototype keys": (random, era) => {
    const text = JSON.stringify({ ...validRequest(random, era), marker: 0 });
    const poison = random.pick([
      `"__proto__":{"isError":true,"polluted":1}`,
      `"constructor":{"prototype":{"polluted":1}}`,
      `"__proto__":null`,
    ]);
    return {
      message: random.chance(50)
        ? text.replace(`"marker":0`, poison)
        : text.replace(`"params":{`, `"params":{${poison},`).replace(`,}`, "}"),
    };
  },
  "tampered state": (random, era) => {
    const request = validRequest(random, era);
    const state = {
      requestState: random.pick(["", "x", "eyJ9.e30.x", "A".repeat(4_000), oddValue(random)]),
      inputResponses: oddValue(random),
    };
    return {
      message: {
        ...request,
        method: "tools/call",
        params: { name: "chaos__echo", arguments: {}, ...request.params, ...state },
      },
    };
  },
  "odd cursor": (random, era) => ({
    message: replaceAt(
      { ...validRequest(random, era), method: "tools/list" },
      ["params", "cursor"],
      random.pick(["-1", "1e9", "NaN", "0x10", "", " ", "__proto__", oddValue(random)]),
    ),
  }),
  "odd bytes": (random, era) => {
    const text = JSON.stringify(replaceAt(validRequest(random, era), ["params", "name"], "<odd>"));
    const odd = random.pick([
      "\\ud800",
      "\\udfff\\ud800",
      "\\u0000",
      "\\u0000".repeat(50),
      "\u0000",
      "\u007f",
      "\t",
      "\ufeff",
      "\u2028",
      "\\u202e",
    ]);
    return { message: random.chance(20) ? `\ufeff${text}` : text.replace("<odd>", `chaos${odd}echo`) };
  },
};

/** Bytes that are not UTF-8: truncated, overlong, beyond Unicode, lone surrogates. */
const NO_UTF8 = ["ff", "c0af", "e282", "f4908080", "eda080", "80", "f8888080"];

const KIND_NAMES: readonly string[] = [...Object.keys(KINDS), "invalid UTF-8", "duplicate id"];

export function fuzzMessage(random: Random, era: Era): FuzzMessage {
  const kind = random.pick(KIND_NAMES);
  if (kind === "invalid UTF-8") return { kind, bytes: withoutUtf8(random, era), mustFail: false };
  if (kind === "duplicate id") {
    // So few that the previous one is often still in flight.
    const message = { ...validRequest(random, era), id: random.pick(["same", 0]) };
    return { kind, bytes: Buffer.from(JSON.stringify(message)), mustFail: false };
  }
  const { message, mustFail = false } = KINDS[kind]?.(random, era) ?? { message: null };
  const isText = typeof message === "string" && message !== "text";
  return { kind, bytes: Buffer.from(isText ? message : JSON.stringify(message)), mustFail };
}

function withoutUtf8(random: Random, era: Era): Buffer {
  const [before = "", after = ""] = JSON.stringify(
    replaceAt(validRequest(random, era), ["params", "name"], "<odd>"),
  ).split("<odd>");
  return Buffer.concat([Buffer.from(before), Buffer.from(random.pick(NO_UTF8), "hex"), Buffer.from(after)]);
}
